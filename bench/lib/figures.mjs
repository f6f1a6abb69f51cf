/** The middle of some figures; of an even number, the mean of the two middle ones. */
export function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Medians of each key over runs that all return the same keys. */
export function medians(runs) {
  return Object.fromEntries(Object.keys(runs[0]).map((key) => [key, round(median(runs.map((run) => run[key])))]));
}

/** Three significant places are more than a shared machine can promise. */
export function round(value) {
  if (value === 0 || !Number.isFinite(value)) return 0;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 4)));
}

export function ratio(left, right) {
  return round(left / right);
}
