/** How many cases a property is tried with: few each time, many in a campaign (`GRIDLOOM_FUZZ_RUNS=20000 npx vitest run …`). */
export function fuzzRuns(usual: number): { readonly numRuns: number } {
  const campaign = Number(process.env['GRIDLOOM_FUZZ_RUNS'] ?? 0);
  return { numRuns: Number.isSafeInteger(campaign) && campaign > usual ? campaign : usual };
}
