/** A parameter as SQLite takes it. */
export type Param = string | number | null;

/**
 * The shared SQL numbers its places (`?2`), since one value may stand twice; the driver wants plain `?` in order. Returns
 * the driver's text, and how to order the values (undefined: as they are).
 */
export function plainPlaces(sql: string): {
  readonly sql: string;
  readonly order: ((params: readonly Param[]) => readonly Param[]) | undefined;
} {
  const indexes: number[] = [];
  const plain = sql.replace(/\?(\d+)/g, (_place, number: string) => {
    indexes.push(Number(number) - 1);
    return '?';
  });
  const isInOrder = indexes.every((index, position) => index === position);
  return { sql: plain, order: isInOrder ? undefined : (params) => indexes.map((index) => params[index] ?? null) };
}
