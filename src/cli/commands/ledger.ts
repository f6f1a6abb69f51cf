import { formatMicros } from '../../kernel/index.ts';
import { createCalendar, type LedgerBy, ledgerBy, type LedgerRow } from '../../monitor/index.ts';
import { type RunCommand, exitCodes, textFlag } from '../command.ts';
import { withData } from '../data.ts';
import { textTable } from '../render/text-table.ts';

export const runLedger: RunCommand = async (input, io) =>
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
  });

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
