import { describe, expect, it } from 'vitest';
import { type FailpointName, noFailpoints } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { base, createWorld, tableId } from './support/world.ts';
import { end, type, waitingRow } from './support/waiting-row.ts';

describe('results in the row', () => {
  it.each<FailpointName>(['outbox:before-upload', 'outbox:after-upload', 'outbox:after-write', 'outbox:after-ack'])(
    'dies at %s and ends the row after the restart with one file and nothing doubled',
    async (name) => {
      let isArmed = false;
      const failpoints = {
        hit: (hit: FailpointName) => {
          if (!isArmed || hit !== name) return;
          isArmed = false;
          throw new Error('killed');
        },
      };
      const world = await createWorld({ failpoints });
      world.newRow('rec1');
      await world.turn();
      isArmed = true;
      await world.engine.charge(world.engine.last().executionId, 100_000);
      await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
      await world.settle(2_000);
      await world.restart({ failpoints: noFailpoints });
      await world.settle();
      expect(world.row('rec1')).toMatchObject({ 状态: '待确认', '成本(元)': 0.1, '耗时(秒)': 10 });
      expect(world.tokens('rec1', '上身图')).toHaveLength(1);
      expect(await world.store.outbox(10)).toEqual([]);
      const uploads = [...world.feishu.files.values()].filter((file) => file.name === '上身图.png');
      // Dying between the platform's answer and our note of it costs a second upload, never a second file in the cell.
      expect(uploads.length).toBeLessThanOrEqual(name === 'outbox:after-upload' ? 2 : 1);
    },
  );

  it('P031 a token that the base does not take leads to one new upload of the kept file, not to a new generation', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const made = await world.made('portrait');
    const foreign = world.feishu.addFile('another base', 'x.png', new Uint8Array(3));
    await world.store.commit([
      {
        type: 'put-document',
        record: {
          collection: 'bitable-file',
          key: `${base}/hash/${made.hash}`,
          value: { fileToken: foreign },
          updatedAt: 0,
        },
      },
    ]);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(world.feishu.count('upload')).toBe(1);
    expect(world.engine.submits).toHaveLength(1);
  });

  it('a result is kept while even the words about it are refused, and fills the row once the table takes it', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    world.feishu.fault = (call) =>
      call.name === 'update' ? { failure: failure(1254045, { class: 'schema' }) } : undefined;
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
    await world.settle(60_000);
    expect(world.cell('rec1', '状态')).toBe('生成中');
    expect(await world.store.outbox(10)).toHaveLength(1);
    world.feishu.fault = undefined;
    await world.settle(600_000);
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(world.tokens('rec1', '上身图')).toHaveLength(1);
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it('P036 an upload that fails for a while is tried again; for ever, the row says so and a later 提交 only uploads', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    let left = 2;
    world.feishu.fault = (call) =>
      call.name === 'upload' && left-- > 0 ? { failure: failure(1061001, { logId: 'log-7' }) } : undefined;
    const output = await world.output('portrait');
    await end(world, { output });
    expect(world.cell('rec1', '状态')).toBe('待确认');
    world.newRow('rec2');
    await world.turn();
    left = 1_000;
    await end(world, { output: await world.output('portrait', 'two') });
    expect(world.cell('rec2', '状态')).toBe('失败');
    expect(world.cell('rec2', '报错')).toMatch(/已生成，但回传表格失败.*1061001.*log-7.*只重传，不会重新生成/s);
    left = 0;
    world.put('rec2', { 操作: '提交' });
    await world.turn();
    const again = world.engine.last();
    expect(again).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec2#portrait', generation: 0 });
    await end(world, { output: await world.output('portrait', 'two') });
    expect(world.tokens('rec2', '上身图')).toHaveLength(1);
  });

  it('P177 P037 a file gets the suffix of its bytes and a name that people can read', async () => {
    const world = await createWorld();
    await waitingRow(world);
    const [token = ''] = world.tokens('rec1', '上身图');
    expect(world.feishu.files.get(token)?.name).toBe('上身图.png');
    await type(world, '通过');
    const odd = await world.spool.keep(new Uint8Array(Buffer.from('{"a":1}')), '9b1c2');
    await end(world, { output: { board: odd.ok ? { ...odd.value } : null } });
    const [board = ''] = world.tokens('rec1', '分镜图');
    expect(world.feishu.files.get(board)?.name).toMatch(/^9b1c2\.\w+$/);
  });

  it('P042 a row deleted while it runs ends quietly: nothing more is started, the result is listed', async () => {
    const world = await createWorld({ confirmSetting: () => false });
    await waitingRow(world);
    await type(world, '通过');
    const table = world.feishu.tables.get(tableId)!;
    table.rows.delete('rec1');
    await end(world, { output: await world.output('storyboard') });
    expect(world.engine.submits).toHaveLength(2);
    expect(await world.store.outbox(10)).toEqual([]);
    const notices = await world.store.events(0, 100, { types: ['notice'] });
    expect(notices.map((event) => event.data['name'])).toContain('orphan-result');
  });

  it('P041 while write-back is down nothing new is started, and results wait on disk', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    world.feishu.fault = (call) => (call.name === 'update' ? { failure: failure(5000) } : undefined);
    await end(world, { output: await world.output('portrait') });
    await world.settle(120_000);
    world.newRow('rec2');
    await world.turn();
    expect(world.engine.submits).toHaveLength(1);
    world.feishu.fault = undefined;
    await world.settle(120_000);
    await world.turn();
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(world.engine.submits).toHaveLength(2);
  });

  it('P119 P122 a partial result is attached, every missing item named, and 提交 makes only the same stage again', async () => {
    const world = await createWorld();
    await waitingRow(world);
    await type(world, '通过');
    const partial = [
      { kind: 'partial', node: 'shots', text: '第2镜：kie 内容审核拦截（任务 t2）' },
      { kind: 'partial', node: 'shots', text: '第7镜：kie 超时（任务 t7）' },
    ] as const;
    await end(world, { status: 'partial', output: await world.output('storyboard', 'eight'), marks: partial });
    expect(world.row('rec1')).toMatchObject({ 状态: '失败' });
    expect(world.cell('rec1', '报错')).toMatch(/第2镜.*t2.*第7镜.*t7.*只补缺的部分/s);
    expect(world.tokens('rec1', '分镜图')).toHaveLength(1);
    await type(world, '提交');
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#storyboard', generation: 0 });
    await end(world, { output: await world.output('storyboard', 'nine') });
    await type(world, '通过');
    expect(world.engine.last().sourceRef).toBe('bitable:app1/tbl1/rec1#film');
  });

  it('P117 a refusal of content stops and tells staff in the vendor’s words', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const refused = {
      kind: 'content-policy',
      code: '400',
      message: 'no',
      provider: 'kie',
      evidence: { message: 'image contains a real person', requestId: 'r-9' },
    } as const;
    await end(world, { status: 'failed', failure: refused, failedNode: '画上身图' });
    expect(world.cell('rec1', '报错')).toMatch(/①上身图失败：画上身图：.*审核拦截.*kie · 400.*real person.*r-9/s);
  });

  it('P166 成本 sums every round, vendor and failure of the row', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    for (const [index, cost] of [300_000, 450_000, 120_000].entries()) {
      await (index === 0 ? world.turn() : type(world, '打回', { 打回意见: `第${index}次` }));
      await world.engine.charge(world.engine.last().executionId, cost);
      await end(world, { output: await world.output('portrait', `v${index}`) });
    }
    expect(world.cell('rec1', '成本(元)')).toBe(0.87);
    expect(world.engine.submits.map((submit) => submit.generation)).toEqual([0, 1, 2]);
    expect(world.engine.submits.map((submit) => submit.input['feedback'])).toEqual([undefined, '第1次', '第2次']);
  });

  it('keeps as many versions as configured, the newest first, and what staff put there', async () => {
    const world = await createWorld();
    await waitingRow(world);
    const [v1 = ''] = world.tokens('rec1', '上身图');
    const mine = world.photo('staff.png');
    world.put('rec1', { 上身图: [{ file_token: v1 }, mine] });
    await type(world, '打回');
    await end(world, { output: await world.output('portrait', 'v2') });
    await type(world, '打回');
    await end(world, { output: await world.output('portrait', 'v3') });
    const tokens = world.tokens('rec1', '上身图');
    expect(tokens).toHaveLength(3);
    expect(tokens).not.toContain(v1);
    expect(tokens).toContain(mine['file_token']);
    await type(world, '通过');
    const { input } = world.engine.last();
    expect(input['portrait']).toEqual([expect.objectContaining({ hash: (await world.made('v3')).hash })]);
  });

  it('a script edited by hand in 待确认 is what the next stage reads', async () => {
    const world = await createWorld();
    await waitingRow(world);
    await type(world, '通过', { 脚本方案: '改过的脚本' });
    expect(world.engine.last().input['script']).toBe('改过的脚本');
  });

  it('a picture replaced after the end is noticed at the next 提交, which starts there without a new generation', async () => {
    const world = await createWorld();
    await waitingRow(world);
    await type(world, '通过');
    await end(world, { output: await world.output('storyboard') });
    await type(world, '通过');
    await end(world, { output: await world.output('film') });
    expect(world.cell('rec1', '状态')).toBe('完成');
    await type(world, '提交', { 脚本方案: '新脚本' });
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#storyboard', generation: 0 });
    await end(world, { output: await world.output('storyboard', 'new') });
    await type(world, '通过');
    await end(world, { output: await world.output('film', 'new') });
    await type(world, '提交');
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#film', generation: 1 });
  });

  it('chains straight into the next stage where nobody is waited for', async () => {
    const world = await createWorld({ confirmSetting: () => false });
    await waitingRow(world);
    await type(world, '通过');
    await world.engine.charge(world.engine.last().executionId, 50_000);
    await end(world, { output: await world.output('storyboard') });
    expect(world.row('rec1')).toMatchObject({ 状态: '生成中', '成本(元)': 0.05 });
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#film' });
    await end(world, { output: await world.output('film') });
    expect(world.cell('rec1', '状态')).toBe('完成');
  });

  it('marks of the run stand in 提示 and stay after success; a new start empties them', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const marks = [{ kind: 'switched', node: 'draw', text: '已改用 toapis' }] as const;
    await end(world, { output: await world.output('portrait'), marks });
    expect(world.cell('rec1', '提示')).toBe('①上身图：已改用 toapis');
    await type(world, '打回');
    expect(world.cell('rec1', '提示')).toBeUndefined();
  });

  it('what is said of several nodes in the same words is one line of 提示 that names them', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const bill = (title: string) =>
      ({ kind: 'estimated', node: title, text: `「${title}」的成本待厂商月账单` }) as const;
    const marks = [bill('写脚本'), { kind: 'switched', node: 'draw', text: '「画图」已改用 toapis' } as const];
    await end(world, {
      output: await world.output('portrait'),
      marks: [...marks, bill('画图'), bill('画图'), { kind: 'adjusted', node: 'x', text: '片长改为 5 秒' }],
    });
    expect(world.cell('rec1', '提示')).toBe(
      '①上身图：「写脚本」「画图」的成本待厂商月账单\n①上身图：「画图」已改用 toapis\n①上身图：片长改为 5 秒',
    );
  });

  it('a run that ends without its key artifact is a failure in words, not an empty 待确认', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    await end(world, { output: { script: '只有文字' } });
    expect(world.row('rec1')).toMatchObject({ 状态: '失败', 脚本方案: '只有文字' });
  });

  it('fifty rows that finish together need at most ten writes', async () => {
    const world = await createWorld();
    for (let index = 0; index < 50; index += 1) world.newRow(`rec${index}`);
    await world.turn();
    const before = world.feishu.count('update');
    for (const submit of world.engine.submits) {
      await world.engine.finish(submit.executionId, { output: await world.output('portrait', submit.sourceRef) });
    }
    await world.settle();
    expect(world.feishu.count('update') - before).toBeLessThanOrEqual(10);
    const rows = [...world.feishu.tables.get(tableId)!.rows.values()];
    expect(rows.every((row) => row['状态'] === '待确认')).toBe(true);
  });
});
