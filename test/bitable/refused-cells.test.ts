import { describe, expect, it } from 'vitest';
import { failure } from './support/fake-feishu.ts';
import { base, createWorld, type World } from './support/world.ts';
import { end, type, waitingRow } from './support/waiting-row.ts';

/** As while a column is gone: every write of a row's cells is refused. */
function refuseAll(world: World): void {
  world.feishu.fault = (call) =>
    call.name === 'update' ? { failure: failure(1254045, { class: 'schema' }) } : undefined;
}

/** The column is back. */
async function heal(world: World): Promise<void> {
  world.feishu.fault = undefined;
  await world.settle(60_000);
}

async function notices(world: World): Promise<readonly unknown[]> {
  const events = await world.store.events(0, 1_000, { types: ['notice'] });
  return events.map((event) => event.data['name']);
}

describe('what the table refuses is not lost:', () => {
  it('a call in doubt is told once the table takes it', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    refuseAll(world);
    const attempt = await world.engine.hold(world.engine.last().executionId);
    await world.settle(60_000);
    expect(await world.store.outbox(10)).toHaveLength(1);
    expect(await notices(world)).toContain('write-back-refused');
    const reads = world.feishu.count('fields');
    await world.turn();
    expect(world.feishu.count('fields')).toBeGreaterThan(reads);
    await heal(world);
    expect(world.cell('rec1', '状态')).toBe('待核对');
    expect(world.cell('rec1', '报错')).toContain(attempt);
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it('a late result is put into its cell once the table takes it', async () => {
    const world = await createWorld();
    await waitingRow(world);
    refuseAll(world);
    await world.engine.late(world.engine.last().executionId, { images: [{ ...(await world.made('late')) }] });
    await world.settle(60_000);
    expect(await world.store.outbox(10)).toHaveLength(1);
    await heal(world);
    expect(world.tokens('rec1', '上身图')).toHaveLength(2);
    expect(world.cell('rec1', '提示')).toMatch(/迟到的结果已放在「上身图」末尾/);
  });

  it('P031 a late result whose remembered token the base does not take is uploaded once more', async () => {
    const world = await createWorld();
    await waitingRow(world);
    const made = await world.made('late');
    const fileToken = world.feishu.addFile('another base', 'x.png', new Uint8Array(3));
    const record = { collection: 'bitable-file', key: `${base}/hash/${made.hash}`, value: { fileToken }, updatedAt: 0 };
    await world.store.commit([{ type: 'put-document', record }]);
    const uploads = world.feishu.count('upload');
    await world.engine.late(world.engine.last().executionId, { images: [{ ...made }] });
    await world.settle(60_000);
    expect(world.feishu.count('upload') - uploads).toBe(1);
    expect(world.tokens('rec1', '上身图')).toHaveLength(2);
    expect(world.tokens('rec1', '上身图')).not.toContain(fileToken);
  });

  it('why a stage could not be started is told once the table takes it', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 产品图: null });
    world.feishu.fault = (call) =>
      call.writes?.some(({ fields }) => fields['状态'] === '失败') === true
        ? { failure: failure(1254045, { class: 'schema' }) }
        : undefined;
    await world.turn();
    expect(world.cell('rec1', '状态')).toBe('生成中');
    await heal(world);
    await world.turn();
    expect(world.row('rec1')).toMatchObject({ 状态: '失败', 报错: '①上身图：请先上传产品图。' });
    expect(await world.store.documents('bitable-command')).toEqual([]);
  });

  it('why a next stage could not be chained is told once the table takes it', async () => {
    const world = await createWorld({ confirmSetting: () => false });
    await waitingRow(world);
    await type(world, '通过');
    world.engine.refusal = { kind: 'invalid-input', advice: '没有这个流程。' };
    world.feishu.fault = (call) =>
      call.writes?.some(({ fields }) => fields['状态'] === '失败') === true
        ? { failure: failure(1254045, { class: 'schema' }) }
        : undefined;
    await end(world, { output: await world.output('storyboard') });
    expect(await world.store.outbox(10)).toHaveLength(1);
    await heal(world);
    expect(world.row('rec1')).toMatchObject({ 状态: '失败', 报错: '③视频：没有这个流程。' });
    expect(await world.store.outbox(10)).toEqual([]);
  });
});
