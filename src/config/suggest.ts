/** The known name that was probably meant, or undefined when none is near enough to be worth saying. */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  const plain = plainName(written);
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = plain === plainName(name) ? 0 : editDistance(plain, plainName(name));
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  if (best === undefined) return undefined;
  const allowance = Math.max(1, Math.floor(Math.min(plain.length, best.name.length) / 4));
  return best.distance <= Math.min(3, allowance) ? best.name : undefined;
}

/** Advice that ends a fault about an unknown name. */
export function suggestName(written: string, known: Iterable<string>): string {
  const names = [...known];
  const nearest = nearestName(written, names);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  if (names.length === 0) return 'remove it';
  const shown = names.slice(0, 12).join(', ');
  return `known here: ${shown}${names.length > 12 ? ' …' : ''}`;
}

/** Case, `_`, `-` and `.` do not count: FEISHU_APPID is FEISHU_APP_ID. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_.\s]/g, '');
}

/** Letters to insert, drop, change or swap with their neighbour. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (isSwap) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
