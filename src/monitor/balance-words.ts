import type { Failure } from '../contract/index.ts';
import { formatMicros, type Logger, type Money } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';
import type { AccountState } from './balance-state.ts';

interface BalanceWordsDeps {
  readonly alerter: Pick<Alerter, 'alert' | 'recover'>;
  readonly logger: Logger;
  readonly isExclusive: (account: string) => boolean;
}

const failedLooksToAlert = 6;

export async function tellFailedLook(
  deps: BalanceWordsDeps,
  id: string,
  account: AccountState | undefined,
  failure: Failure,
): Promise<void> {
  deps.logger.warn('balance not read', { provider: id, kind: failure.kind, code: failure.code });
  if (failure.kind === 'auth') {
    await deps.alerter.alert({
      title: `余额查询被拒：${id}`,
      text: `厂商拒绝了密钥（${failure.code}）。请检查 .env 中 ${id} 的密钥；生成任务很可能也会失败。`,
      severity: 'error',
      key: `balance-look:${id}`,
    });
  } else if (account?.failedLooks === failedLooksToAlert) {
    await deps.alerter.alert({
      title: `余额查不到：${id}`,
      text: `连续 ${failedLooksToAlert} 次查询失败（${failure.kind}），余额曲线已停在 ${formatSum(account.remaining)}。请到厂商后台看余额。`,
      severity: 'warning',
      key: `balance-look:${id}`,
    });
  }
}

export async function tellBalance(deps: BalanceWordsDeps, id: string, account: AccountState): Promise<void> {
  const left = formatSum(account.remaining);
  await deps.alerter.recover({ key: `balance-look:${id}`, title: `余额查询已恢复：${id}`, text: `剩余 ${left}。` });
  if (account.isLow) {
    const calls = account.callsLeft === null ? '' : `按近 7 天的平均单价大约还能做 ${account.callsLeft} 次调用。`;
    const limit = account.threshold === null ? '' : `（告警线 ${formatSum(account.threshold)}）`;
    const verdict = account.usable ? '' : '厂商已标记为不可用。';
    await deps.alerter.alert({
      title: `余额不足：${id}`,
      text: `剩余 ${left}${limit}。${verdict}${calls}请充值；用完后任务会改走下一家候选。`,
      severity: account.usable && account.callsLeft !== 0 ? 'warning' : 'error',
      key: `balance:${id}`,
    });
  } else {
    await deps.alerter.recover({ key: `balance:${id}`, title: `余额已恢复：${id}`, text: `剩余 ${left}。` });
  }
  if (account.driftedLooks >= 2 && deps.isExclusive(id)) {
    await deps.alerter.alert({
      title: `账目对不上：${id}`,
      text: `余额下降与账本相差 ${formatSum({ currency: account.remaining.currency, micros: account.driftMicros })}（正数：厂商扣得多）。请核对厂商账单与 npx gridloom ledger --by vendor；若账号也给别人用，去掉 exclusive。`,
      severity: 'warning',
      key: `drift:${id}`,
    });
  } else if (account.driftedLooks === 0) {
    await deps.alerter.recover({ key: `drift:${id}`, title: `账目已对上：${id}`, text: '余额下降与账本一致。' });
  }
}

/** `81 积分`, `12.50 USD`. */
export function formatSum(sum: Money): string {
  const isCredit = sum.currency.startsWith('credit:');
  const digits = formatMicros(sum.micros, 2);
  return isCredit ? `${digits.replace(/\.00$/, '')} 积分` : `${digits} ${sum.currency}`;
}
