import { describe, expect, it } from 'vitest';
import { failure } from './support/fake-feishu.ts';
import { base, createWorld, settings, tableId, tryOn } from './support/world.ts';

describe('checking inputs before anything is paid', () => {
  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /空文件/],
    [
      'a text file named .png',
      new TextEncoder().encode('<html>not a picture at all</html>'.repeat(10)),
      /不是可用的图片/,
    ],
  ])('%s ends in 失败 with words for staff and no call', async (_name, bytes, words) => {
    const world = await createWorld();
    world.newRow('rec1');
    world.put('rec1', { 产品图: [world.photo('bad.png', bytes)] });
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.cell('rec1', '状态')).toBe('失败');
    expect(world.cell('rec1', '报错')).toMatch(words);
    expect(world.cell('rec1', '报错')).toMatch(/bad\.png/);
  });

  it('a picture above the limit is refused by its size, without a download', async () => {
    const small = { ...settings, transfer: { ...settings.transfer, max_input_bytes: 50 } };
    const world = await createWorld({ settings: small });
    world.newRow('rec1');
    await world.turn();
    expect(world.cell('rec1', '报错')).toMatch(/太大/);
    expect(world.feishu.count('download')).toBe(0);
  });

  it('more pictures than the agent takes are told with both numbers', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 产品图: Array.from({ length: 5 }, (_value, index) => world.photo(`${index}.png`)) });
    await world.turn();
    expect(world.cell('rec1', '报错')).toMatch(/最多放 4 个文件，现在有 5 个/);
  });

  it('P021 downloads carry the permission of row and column under advanced permissions', async () => {
    const world = await createWorld();
    world.feishu.isAdvanced = true;
    world.newRow('rec1');
    await world.turn();
    expect(world.engine.submits).toHaveLength(1);
  });

  it('P021 without the right to read a picture the row fails before anything is paid', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.feishu.fault = (call) =>
      call.name === 'download' ? { failure: failure(1254302, { class: 'permission' }) } : undefined;
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.cell('rec1', '报错')).toMatch(/没有权限读取「产品图」/);
  });

  it('P104 a download that breaks off is tried again as a whole', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    let tries = 0;
    world.feishu.fault = (call) => {
      if (call.name !== 'download') return undefined;
      tries += 1;
      return tries < 3 ? { failure: failure(0, { outcome: 'unknown' }) } : undefined;
    };
    await world.turn();
    expect(tries).toBe(3);
    expect(world.engine.submits).toHaveLength(1);
  });

  it('gives a stage the id of its row, to split rows by', async () => {
    const [first, ...rest] = tryOn.stages;
    const definition = { ...tryOn, stages: [{ ...first!, input: { ...first!.input, notes: '$.row' } }, ...rest] };
    const world = await createWorld({ agents: [{ definition, table: { appToken: base, tableId } }] });
    world.newRow('rec1', { 产品说明: [{ type: 'text', text: '纯棉' }] });
    await world.turn();
    expect(world.engine.last().input['notes']).toBe('rec1');
  });

  it('names the agent as it stood, kept by content: an edit makes another, and history keeps the first', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const { agent, agentHash = '' } = world.engine.last().labels;
    expect(agent).toBe('try-on');
    expect(await world.store.blob(agentHash)).toEqual(tryOn);
    await world.restart({
      agents: [{ definition: { ...tryOn, keep_versions: 3 }, table: { appToken: base, tableId } }],
    });
    world.newRow('rec2');
    await world.turn();
    const later = world.engine.last().labels.agentHash ?? '';
    expect(later).not.toBe(agentHash);
    expect(await world.store.blob(later)).toMatchObject({ keep_versions: 3 });
    expect(await world.store.blob(agentHash)).toEqual(tryOn);
  });

  it('P106 the engine gets hashes and sizes, never bytes', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 产品说明: [{ type: 'text', text: '纯棉' }] });
    await world.turn();
    const { input } = world.engine.last();
    expect(input['photos']).toEqual([expect.objectContaining({ kind: 'artifact', mime: 'image/png' })]);
    expect(input['notes']).toBe('纯棉');
    expect(input).not.toHaveProperty('feedback');
    expect(JSON.stringify(input).length).toBeLessThan(500);
  });

  it('the same picture is downloaded once, whatever the number of starts', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    await world.engine.finish(world.engine.last().executionId, { status: 'failed' });
    await world.settle();
    world.put('rec1', { 操作: '提交' });
    await world.turn();
    expect(world.engine.submits).toHaveLength(2);
    expect(world.feishu.count('download')).toBe(1);
  });

  it('what the engine refuses is told in the row', async () => {
    const world = await createWorld();
    world.engine.refusal = { kind: 'invalid-input', advice: '产品说明太长，请缩短。' };
    world.newRow('rec1');
    await world.turn();
    expect(world.row('rec1')).toMatchObject({ 状态: '失败', 报错: '①上身图：产品说明太长，请缩短。' });
  });
});
