/** Something wrong in the configuration: where it stands, what it is, and what to do about it. */
export interface ConfigFault {
  /** Relative to the installation's directory; `environment` for a variable of the process. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly what: string;
  readonly advice: string;
}

/** Where something stands. */
export type Place = Pick<ConfigFault, 'file' | 'line' | 'column'>;

export function faultAt(place: Place, what: string, advice: string): ConfigFault {
  return { file: place.file, line: place.line, column: place.column, what, advice };
}

/** `file:line:column  what  what to do`, one line. */
export function formatFault(fault: ConfigFault): string {
  const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
  return `${fault.file}:${fault.line}:${fault.column}  ${oneLine(fault.what)}  ${oneLine(fault.advice)}`;
}

/** By file, then by place in it; the same fault is told once. */
export function sortFaults(faults: readonly ConfigFault[]): readonly ConfigFault[] {
  const unique = new Map(faults.map((fault) => [formatFault(fault), fault]));
  return [...unique.values()].sort(
    (left, right) => compareText(left.file, right.file) || left.line - right.line || left.column - right.column,
  );
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
