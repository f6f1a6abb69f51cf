// The layer rule of docs/architecture.md, type-only imports included. Each room names what it may import; the rest is
// forbidden. A room is entered by its door (index.ts, or the few doors listed here).
const rooms = {
  kernel: [],
  contract: ['kernel'],
  engine: ['kernel', 'contract'],
  store: ['kernel', 'contract', 'engine/ports'],
  providers: ['kernel', 'contract'],
  media: ['kernel', 'contract', 'engine/ports', 'providers/http'],
  functions: ['kernel', 'contract', 'engine/ports', 'media'],
  feishu: ['kernel', 'contract', 'providers/http'],
  bitable: ['kernel', 'contract', 'engine/index', 'engine/ports', 'feishu', 'media'],
  monitor: ['kernel', 'contract', 'engine/index', 'engine/ports', 'feishu'],
  sandbox: ['kernel', 'contract'],
  config: ['kernel', 'contract'],
};

const forbidden = Object.entries(rooms).map(([room, allowed]) => ({
  name: `${room}-imports-only-what-it-may`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: {
    path: '^src/',
    pathNot: [`^src/${room}/`, ...allowed.map((target) => `^src/${target}(/|\\.ts$)`)],
  },
}));

const doors = [
  'kernel',
  'contract',
  'engine',
  'store',
  'media',
  'feishu',
  'bitable',
  'monitor',
  'sandbox',
  'config',
  'app',
  'cli',
].map((room) => ({
  name: `${room}-is-entered-by-its-door`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${room}/` },
  to: {
    path: `^src/${room}/`,
    pathNot: [`^src/${room}/index\\.ts$`, '^src/engine/ports/index\\.ts$', '^src/app/(reading|working)\\.ts$'],
  },
}));

module.exports = {
  forbidden: [
    ...forbidden,
    ...doors,
    { name: 'no-cycles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'nobody-imports-app-or-cli',
      severity: 'error',
      from: { path: '^src/(?!app|cli|main)' },
      to: { path: '^src/(app|cli|main)' },
    },
    {
      name: 'network-only-through-the-one-door',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/providers/http/', '^src/app/', '^src/cli/'] },
      to: { path: '^(node:)?(http|https|http2|net|tls|dns|undici)$|node_modules/undici' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs'],
    },
  },
};
