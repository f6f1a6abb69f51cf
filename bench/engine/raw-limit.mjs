import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeStatements } from '../../src/store/shared/statements.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { plainPlaces } from '../../src/store/sqlite/places.ts';
import { serve } from '../lib/child.mjs';
import { temporaryDirectory } from '../lib/world.mjs';

/**
 * The limit: better-sqlite3 alone, same file settings, same tables, writing again exactly the rows that the product wrote,
 * those of its warm-up first and not counted. Once grouped as the product grouped them, once with a transaction for
 * each commit of the product.
 */
serve(async ({ recordTo, executions }) => {
  const { lists, before, counted } = readRecording(recordTo);
  const steps = executions * 5;
  const grouped = write(lists, before, counted);
  const ungrouped = write(
    lists,
    before,
    counted.flatMap((count) => Array.from({ length: count }, () => 1)),
  );
  const countedLists = lists.slice(lists.length - sum(counted));
  return {
    grouped: steps / grouped.seconds,
    grouped_cpu_us_per_step: grouped.cpuUs / steps,
    ungrouped: steps / ungrouped.seconds,
    lists_per_group: countedLists.length / counted.length,
    rows_per_step: countedLists.flat().length / steps,
  };
});

/** The groups before the clock, and those under it; what came after (the engine's stop) is left out. */
function readRecording(recordTo) {
  const { lists, groups, warmUpGroups, countedGroups } = JSON.parse(readFileSync(recordTo, 'utf8'));
  const before = groups.slice(0, warmUpGroups);
  const counted = groups.slice(warmUpGroups, warmUpGroups + countedGroups);
  return { lists: lists.slice(0, sum(before) + sum(counted)), before, counted };
}

function sum(counts) {
  return counts.reduce((total, count) => total + count, 0);
}

/** What the counted groups took, on a database that holds the others. */
function write(lists, before, counted) {
  const directory = temporaryDirectory();
  const database = openDatabase({ path: join(directory.path, 'raw.db'), busyTimeoutMs: 5_000 }, () => undefined);
  const prepared = prepare(database, lists);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let next = 0;
  const writeGroups = (groups) => {
    for (const count of groups) {
      begin.run();
      for (let index = 0; index < count; index += 1) {
        for (const { run, params } of prepared[next++]) run.run(...params);
      }
      commit.run();
    }
  };
  writeGroups(before);
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  writeGroups(counted);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuAtStart);
  database.close();
  directory.remove();
  return { seconds, cpuUs: cpu.user + cpu.system };
}

function prepare(database, lists) {
  const statements = Object.fromEntries(
    Object.entries(writeStatements).map(([name, text]) => {
      const { sql, order } = plainPlaces(text);
      return [name, { statement: database.prepare(sql), order: order ?? ((params) => params) }];
    }),
  );
  return lists.map((list) =>
    list.map(({ statement, params }) => ({
      run: statements[statement].statement,
      params: statements[statement].order(params),
    })),
  );
}
