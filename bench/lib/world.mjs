import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { settingsSchema } from '../../src/contract/index.ts';
import {
  createIdSource,
  createSystemClock,
  createSystemRandom,
  fail,
  noFailpoints,
  ok,
  silentLogger,
} from '../../src/kernel/index.ts';
import {
  createAdaptiveSqliteStore,
  createSideFile,
  createSqliteStore,
  createThreadedSqliteStore,
} from '../../src/store/index.ts';

/** A folder of its own, gone at the end. */
export function temporaryDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'gridloom-bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function shippedSettings() {
  const text = readFileSync(new URL('../../config/gridloom.yaml', import.meta.url), 'utf8');
  return settingsSchema.parse(parse(text));
}

export function emptyDefinitions(workflows) {
  return {
    workflows: new Map(workflows.map((workflow) => [workflow.workflow, workflow])),
    skills: new Map(),
    prompts: new Map(),
    providers: new Map(),
    agents: new Map(),
  };
}

const writers = { adaptive: createAdaptiveSqliteStore, loop: createSqliteStore, thread: createThreadedSqliteStore };

/**
 * The store on a file with `synchronous=FULL`: as a live worker opens it (`adaptive`: written on the event loop until that
 * holds it up, then in a thread), or kept at either. `onMoved` hears of the move.
 */
export function openStore(directory, { writer = 'adaptive', onMoved, ...options } = {}) {
  const path = join(directory, 'gridloom.db');
  // An adaptive store has one thing to say: that it moves.
  const logger = { ...silentLogger, info: () => onMoved?.() };
  return writers[writer]({ path, clock: createSystemClock(), logger, ...options });
}

const said = new Map();
/** The first of each kind in full, the others counted at the end. */
function sayOnce(message, fields) {
  if (said.size === 0) process.once('exit', () => console.error('log lines:', JSON.stringify([...said])));
  if (!said.has(message)) console.error(message, JSON.stringify(fields ?? {}));
  said.set(message, (said.get(message) ?? 0) + 1);
}

/** Warnings are part of what a benchmark shows: a run with errors measures something else. */
const benchLogger = {
  ...silentLogger,
  warn: (message, fields) => sayOnce(message, fields),
  error: (message, fields) => sayOnce(message, fields),
  child: () => benchLogger,
};

/** Everything the engine is given, live; `parts` replaces what a benchmark brings itself. */
export function engineDeps(directory, parts) {
  const clock = createSystemClock();
  const random = createSystemRandom();
  return {
    clock,
    random,
    ids: createIdSource(clock, random),
    failpoints: noFailpoints,
    logger: benchLogger,
    settings: shippedSettings(),
    providers: new Map(),
    functions: new Map(),
    collector: {
      collect: async () => fail({ kind: 'transfer', code: 'bench', message: 'nothing is collected here' }),
    },
    owner: 'bench',
    freeBytes: async () => 1e12,
    sideFile: createSideFile(join(directory, 'handles.side')),
    ...parts,
  };
}

export { ok };
