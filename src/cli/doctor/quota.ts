import { createCallCountStore } from '../../bitable/index.ts';
import type { LoadedConfig } from '../../config/index.ts';
import type { Store } from '../../engine/ports/index.ts';
import { checkQuota, createCallBudget } from '../../feishu/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { type Finding, placed } from './finding.ts';

/** The month's calls as the worker has counted them, and where they will end. The doctor's own are not counted. */
export async function checkQuotaOf({ settings }: LoadedConfig, store: Store, clock: Clock): Promise<Finding> {
  const budget = createCallBudget({
    clock,
    store: createCallCountStore(store, clock),
    plan: settings.feishu.plan,
    monthlyBudget: settings.feishu.monthly_call_budget,
  });
  await budget.load();
  return placed(checkQuota(budget.status()));
}
