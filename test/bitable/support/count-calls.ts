import { createSeededRandom, randomInt } from '../../../src/kernel/index.ts';
import { createWorld } from './world.ts';

export interface CallCounts {
  readonly rows: number;
  /** Calls beside uploads and downloads, for a row, over all three stages. */
  readonly perRow: number;
  readonly mediaPerRow: number;
  readonly byName: Readonly<Record<string, number>>;
}

/**
 * Counts the platform calls of try-on rows through three stages with the long connection alive: words typed within half a
 * minute, two vendor calls a stage, ends spread over `spreadMs`, both confirmations typed.
 */
export async function countCalls(rows: number, spreadMs: number): Promise<CallCounts> {
  const world = await createWorld({ wakeIsAlive: () => true, alertChatId: 'oc_group' });
  await world.turn();
  world.feishu.calls.length = 0;
  const random = createSeededRandom(rows);
  const ids = Array.from({ length: rows }, (_value, index) => `rec${index}`);
  for (const [stage, word] of [
    ['portrait', '提交'],
    ['storyboard', '通过'],
    ['film', '通过'],
  ] as const) {
    const before = world.engine.submits.length;
    for (const id of ids) {
      if (stage === 'portrait') world.newRow(id);
      else world.put(id, { 操作: word });
      world.side.wake({
        eventId: `${stage}-${id}`,
        tableId: 'tbl1',
        operatorId: 'ou_staff',
        records: [{ recordId: id, action: 'record_edited', fieldIds: ['fld0'], after: { fld0: word } }],
      });
    }
    await tickWhile(world, () => world.engine.submits.length < before + rows);
    const ends = world.engine.submits.slice(before).map(async (submit) => {
      const atMs = randomInt(random, Math.max(1, spreadMs));
      for (const part of [0.1, 0.5]) {
        world.clock.after(atMs * part, () => {
          void world.engine.event(submit.executionId, 'attempt-accepted', {
            node: 'n',
            provider: part < 0.3 ? 'chat' : 'kie',
          });
        });
      }
      const output = await world.output(stage, submit.sourceRef);
      await new Promise<void>((resolve) => {
        world.clock.after(atMs, () => {
          void world.engine.finish(submit.executionId, { output }).then(resolve);
        });
      });
    });
    let isOver = false;
    void Promise.all(ends).then(() => {
      isOver = true;
    });
    await tickWhile(world, () => !isOver);
    await world.settle(60_000);
  }
  const byName: Record<string, number> = {};
  for (const call of world.feishu.calls) byName[call.name] = (byName[call.name] ?? 0) + 1;
  const media = (byName['upload'] ?? 0) + (byName['download'] ?? 0);
  const states = ids.map((id) => world.cell(id, '状态'));
  if (states.some((state) => state !== '完成')) throw new Error(`not all rows ended: ${JSON.stringify(states)}`);
  return { rows, perRow: (world.feishu.calls.length - media) / rows, mediaPerRow: media / rows, byName };
}

async function tickWhile(world: Awaited<ReturnType<typeof createWorld>>, isOpen: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && isOpen(); turn += 1) {
    void world.side.tick();
    await world.settle(5_000);
  }
}
