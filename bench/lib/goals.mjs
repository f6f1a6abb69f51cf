/**
 * Figures beside their goals: `goals({ rss_mb: [285, { atMost: 300 }] })` gives
 * `{ rss_mb: { value: 285, at_most: 300, met: true } }`. A figure that is missing meets nothing.
 */
export function goals(wanted) {
  return Object.fromEntries(
    Object.entries(wanted).map(([name, [value, { atLeast, atMost }]]) => {
      const met = Number.isFinite(value) && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
      const bound = atLeast === undefined ? { at_most: atMost } : { at_least: atLeast };
      return [name, { value, ...bound, met }];
    }),
  );
}
