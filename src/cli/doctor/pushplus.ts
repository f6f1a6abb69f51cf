import type { LoadedConfig } from '../../config/index.ts';
import type { Store } from '../../engine/ports/index.ts';
import { type Clock, type Fetch, type IdSource, type Logger } from '../../kernel/index.ts';
import { createCalendar, createPushplusChannel } from '../../monitor/index.ts';
import { fault, type Finding, fine, hint } from './finding.ts';

/** Codes of pushplus whose remedy is known (its help centre). */
const advices: readonly (readonly [code: string, advice: string])[] = [
  [
    '905',
    'the account is not verified: pushplus asks for real-name verification before it delivers (个人中心 → 实名认证)',
  ],
  ['903', 'PUSHPLUS_TOKEN is wrong: copy it from the page of pushplus, and restart the worker'],
  ['900', 'too many messages today; it works again tomorrow'],
];

/** One real message: nothing less shows that the account is verified and delivers. */
export async function checkPushplus(
  config: LoadedConfig,
  ports: {
    readonly store: Store;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly fetch: Fetch;
    readonly ids: Pick<IdSource, 'uuid'>;
  },
): Promise<Finding> {
  const { pushplus, timezone } = config.environment;
  if (pushplus === undefined) {
    return hint('pushplus', 'PUSHPLUS_TOKEN is not set', 'alerts go to the group alone, if there is one');
  }
  const channel = createPushplusChannel({ ...ports, ...pushplus, calendar: createCalendar(timezone) });
  const verdict = await channel.send({
    id: ports.ids.uuid(),
    title: 'Gridloom 自检',
    text: '这是一条自检消息，收到即说明告警可以送达。',
    severity: 'info',
    at: ports.clock.nowMs(),
  });
  switch (verdict.kind) {
    case 'sent':
      return fine('pushplus', 'a message was accepted; see that it arrived');
    case 'later':
      return hint('pushplus', `not tried now: ${verdict.reason}`, 'run the doctor again later');
    case 'failed':
    case 'off': {
      const known = advices.find(([code]) => verdict.reason.includes(code));
      return fault(
        'pushplus',
        verdict.reason,
        known?.[1] ?? 'see the page of pushplus; alerts do not reach you this way',
      );
    }
  }
}
