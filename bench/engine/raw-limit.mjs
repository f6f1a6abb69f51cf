import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeStatements } from '../../src/store/shared/statements.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { plainPlaces } from '../../src/store/sqlite/places.ts';
import { serve } from '../lib/child.mjs';
import { temporaryDirectory } from '../lib/world.mjs';

/**
 * The limit: better-sqlite3 alone, same file settings, same tables, writing again exactly the rows that the product
 * wrote, after a pass that is not counted. Once with a transaction for each commit of the product, once grouped as the product grouped them.
 */
serve(async ({ recordTo, executions }) => {
  const { lists, groups } = JSON.parse(readFileSync(recordTo, 'utf8'));
  if (groups.reduce((sum, count) => sum + count, 0) !== lists.length) throw new Error('the recording does not add up');
  write(lists, groups);
  return {
    ungrouped:
      (executions * 5) /
      write(
        lists,
        Array.from({ length: lists.length }, () => 1),
      ),
    grouped: (executions * 5) / write(lists, groups),
    lists_per_group: lists.length / groups.length,
    rows_per_step: lists.flat().length / (executions * 5),
  };
});

function write(lists, groups) {
  const directory = temporaryDirectory();
  const database = openDatabase({ path: join(directory.path, 'raw.db'), busyTimeoutMs: 5_000 }, () => undefined);
  const statements = Object.fromEntries(
    Object.entries(writeStatements).map(([name, text]) => {
      const { sql, order } = plainPlaces(text);
      return [name, { statement: database.prepare(sql), order: order ?? ((params) => params) }];
    }),
  );
  const prepared = lists.map((list) =>
    list.map(({ statement, params }) => ({
      run: statements[statement].statement,
      params: statements[statement].order(params),
    })),
  );
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const startedAt = performance.now();
  let next = 0;
  for (const count of groups) {
    begin.run();
    for (let index = 0; index < count; index += 1) {
      for (const { run, params } of prepared[next++]) run.run(...params);
    }
    commit.run();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  database.close();
  directory.remove();
  return seconds;
}
