import type { FeishuFailure } from './client.ts';

/** What one of Feishu's codes means for us. */
export interface CodeRule {
  readonly class: FeishuFailure['class'];
  readonly outcome: FeishuFailure['outcome'];
  /** The token must be fetched anew before the call is repeated (once). */
  readonly refreshesToken?: true;
}

interface CodeRow extends CodeRule {
  readonly codes: readonly (number | readonly [from: number, to: number])[];
}

const refused = { outcome: 'refused' } as const;
const unknown = { outcome: 'unknown' } as const;

/**
 * The one table from code to meaning, whatever the HTTP status (the same code comes with 200 and with 4xx). Sources: the
 * platform's error tables of bitable records, fields and tables, drive media, file subscription, messages, and the gateway.
 * A code that is not here is judged by its HTTP status (see `ruleOf`).
 */
const rows: readonly CodeRow[] = [
  // Gateway, per-chat, system-wide, per-base and media throttles.
  { class: 'throttled', ...refused, codes: [99991400, 1254290, 1254112, 1061045, 230020, 230049, 11232, 11233] },
  // Another write to the same base was under way, or earlier edits are still being applied.
  { class: 'conflict', ...refused, codes: [1254291, 1254607] },
  { class: 'quota', ...refused, codes: [99991403, 11247] },
  // The token is missing, spent or not taken: a fresh one may help, once.
  { class: 'credential', ...refused, refreshesToken: true, codes: [99991661, 99991663, 99991665, 99991671, 1061005] },
  {
    class: 'credential',
    ...refused,
    codes: [10003, 10014, 10015, 99991543, 99991662, 99991664, 99991668, 99991673, 99991677, 234002],
  },
  // Scope, collaborator or role missing; a receiver that the bot may not write to.
  {
    class: 'permission',
    ...refused,
    codes: [
      91403, 99991672, 99991676, 99991679, 1254301, 1254302, 1254304, 1254305, 1254701, 1061004, 1061073, 1069603,
      131006, 230002, 230006, 230013, 230017, 230018, 230027, 230029, 230034, 230035, 230038, 230053, 230075, 232009,
      99992351, 99992361,
    ],
  },
  // A row or a file that is no more.
  { class: 'gone', ...refused, codes: [1254043, 1061003, 1061007] },
  // The base, the table or the address in the configuration is wrong; or a limit of the tenant's plan.
  {
    class: 'config',
    ...refused,
    codes: [
      91402,
      [1254003, 1254006],
      1254009,
      [1254040, 1254042],
      1254306,
      1254702,
      1061041,
      1061044,
      1061061,
      1061101,
      1069604,
      131005,
      99991201,
      99991301,
      99991401,
    ],
  },
  // A column is missing, hidden from the app, or of another type than thought.
  { class: 'schema', ...refused, codes: [1254016, 1254018, 1254024, 1254044, 1254045, 1254012, 1254014] },
  // A file token of another base, a drive or a chat: upload our own bytes again.
  { class: 'foreign-attachment', ...refused, codes: [1254027, 1254069, 1254303] },
  {
    class: 'too-large',
    ...refused,
    codes: [1254030, 1254130, [1254100, 1254109], 1061042, 1061043, 230025, 234006, 234010, 234037, [1062505, 1062507]],
  },
  {
    class: 'invalid',
    ...refused,
    codes: [
      1254000,
      1254001,
      1254007,
      1254008,
      [1254010, 1254011],
      1254013,
      1254015,
      1254026,
      1254028,
      1254029,
      1254031,
      1254037,
      [1254060, 1254068],
      1254072,
      1254074,
      [1254080, 1254096],
      1255006,
      1254800,
      9499,
      99992402,
      1061002,
      1061008,
      1061021,
      1061109,
      1061113,
      [1062007, 1062011],
      1069602,
      230001,
      230019,
      230022,
      230028,
      230055,
      230099,
      234001,
      234011,
      234039,
    ],
  },
  // The base is being copied: surely not done, later perhaps.
  { class: 'retry', ...refused, codes: [1254036] },
  // A server's own trouble. A write may have been done: read before repeating.
  {
    class: 'retry',
    ...unknown,
    codes: [1254002, 1254200, 1254608, [1255001, 1255005], 1255040, 2200, 1061001, 1061006, 1062051, 1069601, 131001],
  },
];

const rulesByCode: ReadonlyMap<number, CodeRule> = new Map(
  rows.flatMap(({ codes, ...rule }) =>
    codes.flatMap((entry) =>
      typeof entry === 'number'
        ? [[entry, rule] as const]
        : Array.from({ length: entry[1] - entry[0] + 1 }, (_, index) => [entry[0] + index, rule] as const),
    ),
  ),
);

/** Codes that are no failure: the value was already what was asked for. */
const doneCodes: ReadonlySet<number> = new Set([0, 1254606]);

export function isDone(code: number): boolean {
  return doneCodes.has(code);
}

/** The rule for a code; for one that nobody has listed, the rule for its HTTP status. */
export function ruleOf(code: number, httpStatus: number): CodeRule {
  return rulesByCode.get(code) ?? ruleOfStatus(httpStatus, code);
}

function ruleOfStatus(httpStatus: number, code: number): CodeRule {
  if (httpStatus === 429) return { class: 'throttled', outcome: 'refused' };
  if (httpStatus === 401) return { class: 'credential', outcome: 'refused', refreshesToken: true };
  if (httpStatus === 403) return { class: 'permission', outcome: 'refused' };
  if (httpStatus === 413) return { class: 'too-large', outcome: 'refused' };
  if (httpStatus === 404 || httpStatus === 405 || httpStatus === 407) return { class: 'config', outcome: 'refused' };
  if (httpStatus >= 300 && httpStatus < 400) return { class: 'config', outcome: 'refused' };
  if (httpStatus >= 400 && httpStatus < 500) return { class: 'invalid', outcome: 'refused' };
  // A page instead of JSON under 200: a portal or a proxy answers in Feishu's place.
  if (httpStatus < 300 && code === 0) return { class: 'config', outcome: 'unknown' };
  return { class: 'retry', outcome: 'unknown' };
}
