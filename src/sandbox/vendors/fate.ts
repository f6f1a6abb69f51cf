/**
 * What becomes of a vendor's task, decided when it is accepted. Everything is optional; an empty fate is a task that
 * succeeds after the usual time and is billed at its end.
 */
export interface TaskFate {
  readonly outcome?: 'succeed' | 'fail';
  /** The vendor's own error code and words when it fails. */
  readonly failCode?: string;
  readonly failMessage?: string;
  /** A failed task is billed all the same. */
  readonly billFailure?: boolean;
  /** From acceptance to verdict. */
  readonly durationMs?: number;
  /** Status checks do not find it for so long after acceptance. */
  readonly invisibleMs?: number;
  /** A status word that nobody knows, shown instead of "running" for this long after acceptance. */
  readonly strangeState?: { readonly word: string; readonly forMs: number };
  /** Success is told, but without any address; `firstChecks` says for how many checks (default: for ever). */
  readonly withoutUrl?: { readonly firstChecks?: number };
  /** After its success was shown this many times, status checks call it failed. */
  readonly failsAfterSuccess?: { readonly afterChecks: number };
  /** The bill comes so long after the verdict; until then the answer carries no cost. */
  readonly billDelayMs?: number;
  /** The cost is billed but never told in any answer. */
  readonly hidesCost?: boolean;
  /** What lies behind the result's address. */
  readonly media?: MediaDefect;
  /** The address goes dead so long after the verdict; default one day. */
  readonly linkLifeMs?: number;
  /** The record of the task is gone so long after the verdict; default 14 days. */
  readonly recordLifeMs?: number;
  /** The result is padded to at least so many bytes (a valid file all the same; streamed, never held). */
  readonly padToBytes?: number;
}

type MediaDefect = 'truncated' | 'html' | 'empty' | 'wrong-type' | 'garbage';
