import { writeStatements, type WriteName } from '../shared/statements.ts';

/** Parameters that are numbers, by statement (1-based); everything else is text. */
const numberPlaces: Partial<Record<WriteName, readonly number[]>> = {
  createExecution: [5],
  putExecution: [3],
  claimExecution: [3],
  putNode: [5],
  createAttempt: [6],
  createCharge: [8],
  appendEvent: [1],
  appendOutbox: [1, 4],
  ackOutbox: [1],
  putDocument: [4],
  addDocument: [4],
  remember: [4, 6],
  sendControl: [1],
  ackControl: [1],
};

/** Statements whose row takes the next number of its table. */
const numbered: Partial<Record<WriteName, string>> = {
  appendEvent: 'events',
  appendOutbox: 'outbox',
  sendControl: 'controls',
};

/** Our own error code for a list that met what it did not expect. */
const conflictCode = 'GL001';
/** Names the lock under which numbers are given out ("GLOM"). */
const numberLock = 0x474c4f4d;

/**
 * The whole of a group in one round trip: a function that lives with the writer's session (so that it always matches this
 * program's version), and takes the lists as JSON. All are tried together first; when one is refused, each runs again under
 * a savepoint of its own, so that only that one is left out. It first notes the group's number in the
 * writer's row: after a lost connection the writer learns there whether the group was committed, and that row's lock makes
 * it wait for a commit that is still under way.
 */
export function writeFunctionSql(): string {
  const cases = writeNames().map((name) => `WHEN '${name}' THEN ${statementSql(name)};`);
  return `
  CREATE OR REPLACE FUNCTION pg_temp.write_list(list jsonb) RETURNS void LANGUAGE plpgsql AS $function$
  DECLARE
    operation jsonb; p jsonb; changed bigint;
  BEGIN
    FOR operation IN SELECT value FROM jsonb_array_elements(list) LOOP
      p := operation -> 'params';
      CASE operation ->> 'statement'
        ${cases.join('\n        ')}
      END CASE;
      GET DIAGNOSTICS changed = ROW_COUNT;
      IF changed = 0 AND operation ? 'conflict' THEN
        RAISE EXCEPTION '% of % changed nothing', operation ->> 'statement', p ->> 0
          USING ERRCODE = '${conflictCode}', DETAIL = operation ->> 'conflict';
      END IF;
    END LOOP;
  END $function$;

  CREATE OR REPLACE FUNCTION pg_temp.write_group(writer uuid, number bigint, lists jsonb, appends boolean)
  RETURNS text LANGUAGE plpgsql AS $function$
  DECLARE
    list jsonb; results jsonb := '[]'; what text; code text;
  BEGIN
    UPDATE writers SET group_number = number, outcomes = NULL, seen_at = now() WHERE id = writer;
    IF appends THEN PERFORM pg_advisory_xact_lock(${numberLock}); END IF;
    BEGIN
      FOR list IN SELECT value FROM jsonb_array_elements(lists) LOOP
        PERFORM pg_temp.write_list(list);
        results := results || '[{"kind": "written"}]';
      END LOOP;
    EXCEPTION WHEN SQLSTATE '${conflictCode}' OR integrity_constraint_violation OR data_exception THEN
      results := '[]';
      FOR list IN SELECT value FROM jsonb_array_elements(lists) LOOP
        BEGIN
          PERFORM pg_temp.write_list(list);
          results := results || '[{"kind": "written"}]';
        EXCEPTION
          WHEN SQLSTATE '${conflictCode}' THEN
            GET STACKED DIAGNOSTICS what = MESSAGE_TEXT, code = PG_EXCEPTION_DETAIL;
            results := results || jsonb_build_array(
              jsonb_build_object('kind', 'conflict', 'code', code, 'message', what));
          WHEN integrity_constraint_violation OR data_exception THEN
            GET STACKED DIAGNOSTICS what = MESSAGE_TEXT;
            results := results || jsonb_build_array(jsonb_build_object('kind', 'refused', 'message', what));
        END;
      END LOOP;
    END;
    UPDATE writers SET outcomes = results::text WHERE id = writer;
    IF appends THEN PERFORM pg_notify('gridloom_append', writer::text); END IF;
    RETURN results::text;
  END $function$`;
}

function writeNames(): readonly WriteName[] {
  return Object.keys(writeStatements).filter((name): name is WriteName => Object.hasOwn(writeStatements, name));
}

/** The shared statement with its places read from the JSON parameters, and the next number where the table has one. */
function statementSql(name: WriteName): string {
  const numbers = numberPlaces[name] ?? [];
  const sql = writeStatements[name].replace('/* held */', 'FOR SHARE').replace(/\?(\d+)/g, (_place, digits: string) => {
    const value = `(p ->> ${Number(digits) - 1})`;
    return numbers.includes(Number(digits)) ? `${value}::bigint` : value;
  });
  const table = numbered[name];
  if (table === undefined) return sql;
  const next = `(UPDATE numbers SET last = last + 1 WHERE name = '${table}' RETURNING last)`;
  return sql
    .replace(/INSERT INTO (\w+) \(/, `WITH next AS ${next} INSERT INTO $1 (seq, `)
    .replace(/VALUES \((.*)\)$/s, 'SELECT next.last, $1 FROM next');
}
