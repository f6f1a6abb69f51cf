/**
 * The platform room: Feishu's REST API, long connection, call budget and diagnosis. It knows bases, tables, rows as raw
 * cells, files and messages; it knows nothing of stages, agents or the engine. `docs/feishu.md` tells its rules.
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
export { createFeishuClient, type FeishuDeps } from './create-client.ts';
export { cleanFileName } from './file-name.ts';
export type { BaseInfo, FeishuInspection } from './inspection.ts';
export { type BaseLocation, parseBaseSetting, parseTableSetting, type TableLocation } from './links.ts';
export { createLongConnection, type LongConnectionDeps } from './long-connection.ts';
export { createQuotaGuard, type QuotaGuard } from './quota-guard.ts';
export type { UploadSessions } from './upload-sessions.ts';
