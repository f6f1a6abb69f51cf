/**
 * The named places where a crash test may kill the process. Each stands between two durable steps; the crash suite walks
 * this list and fails for a name without a test.
 */
export const failpointNames = [
  'intake:before-store',
  'intake:after-store',
  'intake:after-clear',
  'intake:after-submit',
  'attempt:before-intent',
  'attempt:after-intent',
  'attempt:after-send',
  'attempt:after-handle',
  'attempt:before-settle',
  'attempt:after-settle',
  'collect:after-download',
  'node:after-result',
  'execution:before-end',
  'outbox:before-upload',
  'outbox:after-upload',
  'outbox:after-write',
  'outbox:after-ack',
] as const;

export type FailpointName = (typeof failpointNames)[number];

/** The failpoint port: does nothing in production; tests kill the process or throw. */
export interface Failpoints {
  hit(name: FailpointName): void;
}

export const noFailpoints: Failpoints = { hit: () => undefined };
