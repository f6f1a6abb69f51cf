export type { AlertChannel, AlertInput, AlertMessage, Alerter, AlertView, ChannelVerdict, Severity } from './alert.ts';
export { type AlerterDeps, createAlerter } from './alerter.ts';
export { type Calendar, createCalendar } from './calendar.ts';
export { createEventAlerts, type EventAlerts } from './event-alerts.ts';
export { createGroupChannel } from './group-channel.ts';
export { type Ledger, type LedgerBy, type LedgerRow, ledgerBy } from './ledger.ts';
export { createPushplusChannel, type PushplusDeps } from './pushplus.ts';
export { createRestartWatch } from './restart-watch.ts';
export { createDiskWatch } from './disk-watch.ts';
export { createHeartbeat, type HeartbeatDeps } from './heartbeat.ts';
export { createWatchdog, type Watchdog, type WatchdogDeps } from './watchdog.ts';
export {
  type BalancePatrol,
  type BalancePatrolDeps,
  type BalanceView,
  createBalancePatrol,
} from './balance-patrol.ts';
export { createDailySummary, type DailySummary, type DailySummaryDeps } from './daily-summary.ts';
export { type ClosableLogger, createLogger, type LoggerOptions, type LogLevel } from './logger.ts';
export { createRedactor, type Redactor } from './redact.ts';
export { executionFile } from './execution-file.ts';
export { createMemoryFiles, createMonitorFiles, type MonitorFiles } from './files.ts';
export { createMetrics, type Metrics, type MetricsDeps } from './metrics.ts';
export type { FeishuView, MetricsInputs, WorkerView } from './metrics-json.ts';
export { formatSum } from './balance-words.ts';
export { createEventServer, type EventServerDeps } from './event-server.ts';
export { eventStream, type EventStreamDeps } from './event-stream.ts';
export { createFolderReader, type ReadFile } from './folder-reader.ts';
