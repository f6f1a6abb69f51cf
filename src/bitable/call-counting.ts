import type { Settings } from '../contract/index.ts';
import type { Store } from '../engine/ports/index.ts';
import { type BudgetNotice, type CallBudget, type CallCountStore, createCallBudget } from '../feishu/index.ts';
import type { Clock, JsonObject } from '../kernel/index.ts';
import { collections, putDocument } from './row-documents.ts';

/** The months of the call budget, as documents of the store. */
export function createCallCountStore(store: Store, clock: Clock): CallCountStore {
  return {
    load: async (month) => (await store.document(collections.calls, month))?.value,
    save: async (month, value) => await store.commit([putDocument(clock, collections.calls, month, value)]),
  };
}

/** A budget for whoever was given none. */
export function newCallBudget(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly timeZone: string;
}): CallBudget {
  const { store, clock, settings, timeZone } = options;
  return createCallBudget({
    clock,
    store: createCallCountStore(store, clock),
    plan: settings.feishu.plan,
    monthlyBudget: settings.feishu.monthly_call_budget,
    timeZone,
  });
}

/** Below this share of the month's budget the search keeps its full pace, however short that is. */
const freeShare = 0.2;

/**
 * Least time between two searches of a table. While the month's quota is plenty it is `poll.interval`; when it runs low
 * the budget stretches it.
 */
export function searchSpacingMs(budget: CallBudget, settings: Settings, tables: number): number {
  const pace = settings.poll.interval;
  const status = budget.status();
  const isPlenty = status.budget === undefined || status.used < status.budget * freeShare;
  return isPlenty ? pace : budget.searchIntervalMs(pace, tables);
}

/** What the operator is told of the month's calls. */
export function budgetNotice(notice: BudgetNotice): JsonObject {
  const common = { name: 'feishu-quota', key: 'feishu-quota' };
  switch (notice.name) {
    case 'feishu-budget-warning':
      return {
        ...common,
        text: `本月飞书调用已用 ${notice.used} 次，达到预算 ${notice.budget} 次的八成；查询间隔已放慢。可升级飞书版本，或调整 feishu.monthly_call_budget。`,
      };
    case 'feishu-budget-reached':
      return {
        ...common,
        severity: 'error',
        title: '飞书调用预算已用完',
        text: `本月飞书调用已用 ${notice.used} 次，超过预算 ${notice.budget} 次；程序继续工作，但飞书可能随时停止服务直到下月 1 日。`,
      };
    case 'feishu-quota-gone':
      return {
        ...common,
        severity: 'error',
        title: '飞书本月调用额度已用完',
        text: '飞书拒绝了一切调用，直到下月 1 日；已停止调用。结果都保存在本机，恢复后自动写回。升级飞书版本可立即恢复。',
      };
    case 'feishu-quota-back':
      return { ...common, recovered: true, title: '飞书调用已恢复', text: '表格恢复读写，积压的结果正在写回。' };
  }
}
