/** Columns as wide as their widest cell; Chinese characters and emoji count two. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = header.map((title, column) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell))))
      .join('  ')
      .trimEnd();
  return [line(header), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)];
}

function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
  return width;
}

/** Arrows, dashes, lines and the like stand before the Chinese blocks, and are narrow. */
function isWide(code: number): boolean {
  return code >= 0x1100 && !(code >= 0x2000 && code < 0x2e80);
}

/** `2026-11-30 14:03:05` in the given time zone. */
export function localTime(atMs: number | undefined, timeZone: string): string {
  if (atMs === undefined) return '–';
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(atMs);
}
