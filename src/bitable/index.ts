export { createCallCountStore } from './call-counting.ts';
export { type ColumnFault, resolveColumns, type TableColumns } from './columns.ts';
export { type Decision, decide, decisionTable, isDone, printDecisionTable, type RowFacts } from './decision-table.ts';
export type { AgentTable, TableSideDeps } from './deps.ts';
export { type RowRef, rowSourcePrefix } from './refs.ts';
export { createTableSide, type TableSide, type TableSideStatus } from './table-side.ts';
export { type OperationWord, operationWords, type RowStatus, statusWords } from './words.ts';
export { type Provisioned, provision } from './provision.ts';
export { botColumns, tableFields } from './table-fields.ts';
