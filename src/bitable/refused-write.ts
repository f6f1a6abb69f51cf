import type { FeishuFailure } from '../feishu/index.ts';
import type { Hub, RowPlace } from './hub.ts';

/** The table refuses a row's cells: its columns are read again where that may help, and the operator is told. */
export async function noteRefusal(hub: Hub, place: RowPlace, failure: FeishuFailure): Promise<void> {
  if (failure.class === 'schema') place.table.columnsAreStale = true;
  await hub.notice({
    name: 'write-back-refused',
    title: '结果写回表格被飞书拒绝',
    text: `智能体 ${place.table.agent.agent} 行 ${place.recordId}：飞书代码 ${failure.code} ${failure.message}`,
  });
}
