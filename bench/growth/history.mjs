import Database from 'better-sqlite3';

/**
 * Copies of a row that was really run, with ids and instants of their own, spread evenly over the time before it: as if so
 * many rows had been run before. Beside each lie the documents that the table side keeps of a row.
 */
export function copyHistory(path, { rows, days, upToMs, from = 0 }) {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  const template = readTemplate(database);
  const insert = prepareInserts(database, template);
  const spacingMs = (days * 86_400_000) / rows;
  const writeSome = database.transaction((first, last) => {
    for (let row = first; row < last; row += 1) {
      insert(copyOf(template, { row: from + row, atMs: Math.floor(upToMs - (rows - row) * spacingMs) }));
    }
  });
  for (let row = 0; row < rows; row += 2_000) writeSome(row, Math.min(rows, row + 2_000));
  // Whoever follows the log has followed it to its end.
  database
    .prepare(
      `UPDATE documents SET value = json_set(value, '$.cursor', (SELECT MAX(seq) FROM events))
       WHERE collection = 'monitor' AND key = 'metrics'`,
    )
    .run();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

const tables = ['executions', 'nodes', 'attempts', 'charges', 'events', 'remembered'];

/** All that the newest execution left, as text, with its ids and its first instant. */
function readTemplate(database) {
  const execution = database.prepare('SELECT * FROM executions ORDER BY id DESC LIMIT 1').get();
  const attempts = database.prepare('SELECT * FROM attempts WHERE execution_id = ?').all(execution.id);
  const of = (table) => database.prepare(`SELECT * FROM ${table} WHERE execution_id = ?`).all(execution.id);
  const remembered = database.prepare('SELECT * FROM remembered WHERE source_ref = ?').all(execution.source_ref);
  const rows = { executions: [execution], nodes: of('nodes'), attempts, charges: of('charges'), events: of('events') };
  const { createdAt } = JSON.parse(execution.body);
  const text = JSON.stringify({ ...rows, remembered });
  const ids = [execution, ...attempts, ...rows.charges].map(({ id }) => id);
  const fingerprints = new Set([...attempts, ...remembered].map(({ fingerprint }) => fingerprint));
  return { text, ids, fingerprints, createdAt, row: /row(\d+)#/.exec(execution.source_ref)[1] };
}

function copyOf({ text, ids, fingerprints, createdAt, row: templateRow }, { row, atMs }) {
  let copy = text;
  ids.forEach((id, index) => {
    copy = copy.replaceAll(id, uuid(atMs + index, row));
  });
  for (const print of fingerprints) copy = copy.replaceAll(print, print.slice(12) + row.toString(16).padStart(12, '0'));
  copy = copy
    .replaceAll(`row${templateRow}#`, `past${row}#`)
    .replaceAll(`row-${templateRow}`, `past-${row}`)
    .replace(/\b1\d{12}\b/g, (number) => {
      const afterMs = Number(number) - createdAt;
      return Math.abs(afterMs) < 3_600_000 ? String(atMs + afterMs) : number;
    });
  return { ...JSON.parse(copy), documents: documentsOf(row, atMs) };
}

function uuid(atMs, row) {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${row.toString(16).padStart(12, '0')}`;
}

function documentsOf(row, atMs) {
  const token = `boxcn${String(row).padStart(20, '0')}`;
  const hash = row.toString(16).padStart(64, '0');
  const made = { generation: 0, made: [token], madeFrom: hash, activeMs: 60_000, versions: { 视频: [[token]] } };
  const artifact = { kind: 'artifact', hash, sizeBytes: 9_000_000, mime: 'video/mp4', name: 'film.mp4' };
  return [
    ['bitable-row', `app/table/past${row}`, { agent: 'try-on', status: '已完成', stage: 2, stages: { video: made } }],
    ['bitable-file', `app/hash/${hash}`, { fileToken: token }],
    ['bitable-file', `app/token/${token}`, { artifact }],
  ].map(([collection, key, value]) => ({ collection, key, value: JSON.stringify(value), updated_at: atMs }));
}

function prepareInserts(database, { text }) {
  const example = { ...JSON.parse(text), documents: documentsOf(0, 0) };
  const statements = [...tables, 'documents']
    .filter((table) => example[table].length > 0)
    .map((table) => {
      const columns = Object.keys(example[table][0]).filter((name) => table !== 'events' || name !== 'seq');
      const places = columns.map((name) => `@${name}`).join(', ');
      return [table, database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`)];
    });
  return (copy) => {
    for (const [table, statement] of statements) for (const row of copy[table]) statement.run(row);
  };
}
