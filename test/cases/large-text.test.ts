import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { createWorld as createTable, tableId } from '../bitable/support/world.ts';
import { define, imageSkill } from '../engine/support/definitions.ts';
import { createScriptedVendor } from '../engine/support/vendor.ts';
import { createWorld } from '../engine/support/world.ts';

const script = '镜头'.repeat(100_000);

describe('P151 a text too large to carry around', () => {
  it('P151 thirty shots over a script of 200,000 characters run, and the log carries none of it', async () => {
    const clock = createVirtualClock();
    const acme = createScriptedVendor({ clock });
    const world = await createWorld({
      clock,
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              shots: {
                kind: 'map',
                over: '$.input.list',
                max_items: 30,
                concurrency: 30,
                input: { prompt: '$.item', script: '$.input.script' },
                body: { skill: 'painter' },
              },
            },
            output: { images: '$.nodes.shots.output.items[*].images[*]' },
          },
        ],
        skills: [imageSkill('painter', { input: { type: 'object' } })],
      }),
      providers: new Map([['acme', acme.provider]]),
    });
    const list = Array.from({ length: 30 }, (_, at) => `shot ${at}`);
    const id = await world.submit({ input: { script, list } });
    expect(await world.settle(id)).toMatchObject({ status: 'succeeded' });
    expect(acme.tasks).toHaveLength(30);
    const piece = script.slice(0, 100);
    const stored = JSON.stringify([await world.store.nodes(id), await world.store.attempts(id)]);
    expect(stored).not.toContain(piece);
    expect(JSON.stringify(await world.eventsOf(id))).not.toContain(piece);
    expect(JSON.stringify(await world.outbox())).not.toContain(piece);
    // The twin: the one place where it is kept.
    expect((await world.execution(id)).input['script']).toBe(script);
  });

  it('P151 a cell takes what it can hold, says that the rest is missing, and the stage counts as made by the bot', async () => {
    const world = await createTable();
    world.newRow('rec1');
    await world.turn();
    const first = world.engine.last();
    await world.engine.finish(first.executionId, {
      output: { ...(await world.output('portrait')), script },
    });
    await world.settle();
    const written = world.cell('rec1', '脚本方案');
    expect(typeof written === 'string' && written.length).toBeLessThanOrEqual(100_000);
    expect(written).toContain('已截断');
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(world.feishu.tables.get(tableId)?.rows.size).toBe(1);
    world.put('rec1', { 操作: '通过' });
    await world.turn();
    expect(world.engine.last().sourceRef).toContain('#storyboard');
    expect(world.engine.submits).toHaveLength(2);
  });
});
