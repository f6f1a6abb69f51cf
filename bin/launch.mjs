/**
 * What keeps a worker small: it waits more than it computes, and moves large files. V8 and glibc take these only when a
 * process begins. A nursery of one megabyte costs a step of the engine some 20 µs more than one of sixteen (74 instead of
 * 54), and an idle worker 25 MB less; an allocator with one arena, which gives freed memory back at once, 10 MB more. So small a
 * nursery is emptied faster by one thread than several agree on how: 8 to 20 µs a step less, most with the writer in a thread.
 */
export const flags = ['--max-semi-space-size=1', '--no-parallel-scavenge'];
export const allocator = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/** Begins anew, as the same process, with these; where that cannot be (not Linux, or held by a parent's channel) goes on. */
export function beginSmall() {
  const isSet = Object.keys(allocator).some((name) => process.env[name] !== undefined);
  const canBeginAnew = process.platform === 'linux' && process.channel === undefined && process.execve !== undefined;
  if (isSet || !canBeginAnew) return;
  const given = [...process.execArgv, ...flags, ...process.argv.slice(1)];
  process.execve(process.execPath, [process.execPath, ...given], { ...process.env, ...allocator });
}
