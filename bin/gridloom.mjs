#!/usr/bin/env node
// The one entry. It must parse on any Node, so that an old one can be told what to do; everything else is TypeScript.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `Gridloom needs Node 24 or later, this is ${process.versions.node}: run it with "npm start" or "npx gridloom" (they use the Node pinned in node_modules), after "npm ci".\n`,
  );
  process.exit(78);
}
if (process.argv[2] === 'start') {
  const { beginSmall } = await import('./launch.mjs');
  beginSmall();
}
// Keeps compiled code (types already stripped) between starts: quicker, and the stripper need not be loaded again.
const { enableCompileCache } = await import('node:module');
enableCompileCache();
const { runCli } = await import('../src/cli/index.ts');
process.exitCode = await runCli(process.argv.slice(2));
