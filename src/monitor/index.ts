export type { AlertChannel, AlertInput, AlertMessage, Alerter, ChannelVerdict } from './alert.ts';
export { createAlerter } from './alerter.ts';
export { type Calendar, createCalendar } from './calendar.ts';
export { createEventAlerts, type EventAlerts } from './event-alerts.ts';
export { createGroupChannel } from './group-channel.ts';
export { type LedgerBy, type LedgerRow, ledgerBy } from './ledger.ts';
export { createPushplusChannel } from './pushplus.ts';
export { createRestartWatch } from './restart-watch.ts';
export { createDiskWatch } from './disk-watch.ts';
export { createHeartbeat } from './heartbeat.ts';
export { createWatchdog } from './watchdog.ts';
export {
  type BalancePatrol,
  createBalancePatrol,
} from './balance-patrol.ts';
export { createDailySummary, type DailySummary } from './daily-summary.ts';
export { type ClosableLogger, createLogger } from './logger.ts';
export { createRedactor } from './redact.ts';
export { createMemoryFiles, createMonitorFiles, type MonitorFiles } from './files.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export type { MetricsInputs } from './metrics-json.ts';
export { formatSum } from './balance-words.ts';
export { createEventServer } from './event-server.ts';
export { createFolderReader } from './folder-reader.ts';
