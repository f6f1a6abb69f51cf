import tseslint from 'typescript-eslint';

// Everything uncertain is injected (docs/architecture.md, "What is injected"): these names may only appear where the
// real world enters the program.
const worldCalls = [
  ["CallExpression[callee.object.name='Date'][callee.property.name='now']", 'Date.now: take a Clock'],
  ["NewExpression[callee.name='Date'][arguments.length=0]", 'new Date(): take a Clock'],
  ["CallExpression[callee.object.name='performance']", 'performance: take a Clock'],
  ["MemberExpression[property.name='hrtime']", 'hrtime: take a Clock'],
  ["CallExpression[callee.object.name='Math'][callee.property.name='random']", 'Math.random: take a Random'],
  ["CallExpression[callee.property.name='randomUUID']", 'randomUUID: take an IdSource'],
  ["CallExpression[callee.name='randomUUID']", 'randomUUID: take an IdSource'],
  ["CallExpression[callee.property.name='getRandomValues']", 'getRandomValues: take a Random'],
  ['CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate)$/]', 'timers: take a Clock'],
  ['ImportDeclaration[source.value=/timers.promises/]', 'timers/promises: take a Clock'],
  [
    "CallExpression[callee.object.name='AbortSignal'][callee.property.name='timeout']",
    'AbortSignal.timeout: take a Clock',
  ],
  ["CallExpression[callee.name='fetch']", 'global fetch: take a Fetch'],
].map(([selector, message]) => ({
  selector,
  message: `${message} (only src/kernel, src/providers/http and src/app may touch the real one).`,
}));

const shape = [
  { selector: 'TSEnumDeclaration', message: 'No enums: a union of literals.' },
  { selector: 'ExportDefaultDeclaration', message: 'No default exports.' },
  { selector: 'ExportAllDeclaration', message: 'No wildcard re-exports.' },
];

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      'data',
      'webmon/**',
      'bin/**',
      'bench/**',
      '*.cjs',
      '*.mjs',
      'config/**',
      'vitest.config.ts',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unsafe-type-assertion': 'error',
      '@typescript-eslint/strict-boolean-expressions': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...shape, ...worldCalls],
    },
  },
  {
    files: ['src/kernel/**', 'src/providers/http/**', 'src/app/**'],
    rules: { 'no-restricted-syntax': ['error', ...shape] },
  },
  {
    files: ['test/**'],
    rules: {
      'no-restricted-syntax': ['error', ...shape],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-type-assertion': 'off',
    },
  },
);
