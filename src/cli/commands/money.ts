import { createProviders, createProbePorts } from '../../app/index.ts';
import { deadline, formatMicros } from '../../kernel/index.ts';
import { createCalendar, formatSum, type LedgerBy, ledgerBy, type LedgerRow } from '../../monitor/index.ts';
import { type Command, exitCodes, textFlag } from '../command.ts';
import { openConfig, withData } from '../data.ts';
import { textTable } from '../render/text-table.ts';

export const ledgerCommand: Command = {
  name: 'ledger',
  usage: '[--month YYYY-MM] [--by agent|vendor|submitter]',
  help: 'money spent in a month',
  options: {
    month: { type: 'string', help: 'YYYY-MM (default: this month)' },
    by: { type: 'string', help: 'agent (default), vendor or submitter' },
  },
  words: [0, 0],
  run: async (input, io) =>
    await withData(io, async ({ store, config, clock }) => {
      const calendar = createCalendar(config.environment.timezone);
      const month = textFlag(input, 'month') ?? calendar.monthOf(clock.nowMs());
      const by = groupings.find((each) => each === (textFlag(input, 'by') ?? 'agent'));
      if (by === undefined || !/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
        io.err('--month takes YYYY-MM, --by takes agent, vendor or submitter');
        return exitCodes.usage;
      }
      const ledger = ledgerBy(await store.charges(calendar.monthRange(month)), by, month, config.environment.timezone);
      if (input.json) {
        io.out(JSON.stringify(ledger));
        return exitCodes.done;
      }
      const lines = [...ledger.rows, { ...ledger.total, key: 'total' }].map(ledgerLine);
      for (const line of textTable(
        [by.toUpperCase(), 'CALLS', 'CNY', 'OPEN CNY', 'IN THE VENDORS’ UNITS', 'ESTIMATED', 'UNPRICED'],
        lines,
      ))
        io.out(line);
      return exitCodes.done;
    }),
};

const groupings: readonly LedgerBy[] = ['agent', 'vendor', 'submitter'];

function ledgerLine(row: LedgerRow): string[] {
  const totals = Object.entries(row.totals).map(([currency, micros]) => `${formatMicros(micros, 6)} ${currency}`);
  return [
    row.key,
    String(row.calls),
    formatMicros(row.cnyMicros, 4),
    formatMicros(row.openCnyMicros, 4),
    totals.join(' + '),
    String(row.estimatedCalls),
    String(row.unpricedCalls),
  ];
}

const balanceLimitMs = 30_000;

export const balancesCommand: Command = {
  name: 'balances',
  usage: '',
  help: 'money left at each vendor: the field that truly runs out',
  words: [0, 0],
  run: async (input, io) => {
    const config = await openConfig(io);
    if (!config.ok) return config.failure;
    const probe = createProbePorts(config.value);
    const limit = deadline(probe.clock, balanceLimitMs);
    try {
      const asked = [...createProviders(config.value, probe)].filter(([, provider]) => provider.balance !== undefined);
      const answers = await Promise.all(
        asked.map(async ([id, provider]) => ({ id, answer: await provider.balance?.(limit.signal) })),
      );
      const known = answers.flatMap(({ id, answer }) => (answer === undefined ? [] : [{ id, answer }]));
      if (input.json)
        for (const each of known)
          io.out(
            JSON.stringify({
              provider: each.id,
              ...(each.answer.ok
                ? { remaining: each.answer.value.remaining }
                : { failure: each.answer.failure.message }),
            }),
          );
      else
        for (const line of textTable(
          ['PROVIDER', 'LEFT'],
          known.map(({ id, answer }) => [
            id,
            answer.ok ? formatSum(answer.value.remaining) : `not known: ${answer.failure.message}`,
          ]),
        ))
          io.out(line);
      return known.every(({ answer }) => answer.ok) ? exitCodes.done : exitCodes.failed;
    } finally {
      limit.release();
      await probe.close();
    }
  },
};
