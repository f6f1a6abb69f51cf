/** A stored row as a driver returns it: nothing in it is trusted yet. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs one read in SQL with `?1` placeholders. */
export type RunQuery = (sql: string, params: readonly (string | number | null)[]) => Promise<readonly Row[]>;

/** A column that was declared NOT NULL text. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : '';
}

/** A whole number; PostgreSQL returns its bigints as text. */
export function numberOf(row: Row, column: string): number {
  const value = Number(row[column]);
  return Number.isFinite(value) ? value : 0;
}

/** Text, or nothing for NULL. */
export function maybeTextOf(row: Row, column: string): string | undefined {
  const value = row[column];
  return typeof value === 'string' ? value : undefined;
}

/** Stored JSON; undefined where it does not parse. */
export function jsonOf(row: Row, column: string): unknown {
  const text = row[column];
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
