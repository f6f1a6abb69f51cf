/**
 * The platform room: Feishu's REST API, long connection, call budget and diagnosis. It knows bases, tables, rows as raw
 * cells, files and messages; it knows nothing of stages, agents or the engine.
 *
 * A call goes: operation (`records`, `tables`, `messages`, `upload`, `download`) ─▶ `caller` (token, throttle, repeats,
 * count) ─▶ the official SDK's `request` ─▶ `transport` (our HTTP door for it, over the injected Fetch). What is ours,
 * because the SDK does it badly or not at all:
 *
 * - tokens (`token-source`): one fetch for all who wait, renewed 3 min early, dropped when refused (99991663 in either form)
 *   and the call repeated once;
 * - deadlines by the Clock, headers and body included; the caller's abort ends every wait;
 * - codes (`codes`): one table from code to class and outcome, read from bodies of HTTP 200 and of 4xx/5xx alike;
 * - repeats (`next-step`): throttles wait for the platform's own reset time, write conflicts half a second and more, both
 *   bounded; nothing whose outcome is unknown is repeated unless a repeat can do no harm;
 * - media: forms in our own bytes, at most N calls a second for each endpoint, uploads one at a time, a stalled or short
 *   download is an error, a JSON error under HTTP 200 is no file;
 * - silence: the SDK logs secrets, so its logger strikes them out.
 *
 * The long connection (`long-connection`) is the one part outside the simulation: the SDK keeps its timers.
 */
export {
  type BudgetNotice,
  type BudgetStatus,
  type CallBudget,
  type CallBudgetDeps,
  type CallCountStore,
  createCallBudget,
} from './call-budget.ts';
export type {
  FeishuClient,
  FeishuFailure,
  FeishuResult,
  FieldInfo,
  NewField,
  RawRecord,
  RecordWrite,
  TableRef,
  UploadSource,
  WakeEvent,
  WakeSource,
} from './client.ts';
export { type SetupChoices, type SetupStep, setupSteps } from './console-links.ts';
export { createFeishuClient, type FeishuDeps } from './create-client.ts';
export {
  checkBase,
  checkBot,
  checkColumnType,
  checkCredentials,
  checkRead,
  checkTable,
  explainMissingColumns,
} from './diagnose/access.ts';
export { type AppPlace, adviceOf, type Diagnosis } from './diagnose/diagnosis.ts';
export { probeWrite, type WriteProbe } from './diagnose/probe-write.ts';
export {
  checkClock,
  checkLongConnection,
  checkMessage,
  checkProxy,
  checkQuota,
  checkSubscription,
  type ProxyView,
} from './diagnose/surroundings.ts';
export { cleanFileName } from './file-name.ts';
export type { BaseInfo, FeishuInspection } from './inspection.ts';
export { type BaseLocation, parseBaseSetting, parseTableSetting, type TableLocation } from './links.ts';
export { createLongConnection, type LongConnectionDeps } from './long-connection.ts';
export { createQuotaGuard, type QuotaGuard } from './quota-guard.ts';
export type { UploadSessions } from './upload-sessions.ts';
