import { createProviders, createProbePorts } from '../../app/working.ts';
import { deadline } from '../../kernel/index.ts';
import { formatSum } from '../../monitor/index.ts';
import { exitCodes, type RunCommand } from '../command.ts';
import { openConfig } from '../data.ts';
import { textTable } from '../render/text-table.ts';

const balanceLimitMs = 30_000;

export const runBalances: RunCommand = async (input, io) => {
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
            ...(each.answer.ok ? { remaining: each.answer.value.remaining } : { failure: each.answer.failure.message }),
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
};
