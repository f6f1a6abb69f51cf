import { describe, expect, it } from 'vitest';
import type { RawRecord } from '../../src/feishu/client.ts';
import { createSeededRandom, type ExecutionId, type Random, randomInt } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { type Life, mortal } from './support/mortal.ts';
import { createWorld, tableId, type World } from './support/world.ts';

const rowIds = ['rec0', 'rec1', 'rec2', 'rec3'];
const words = ['提交', '提交', '提交', '通过', '通过', '打回', '取消', '乱写'];
const stages = ['portrait', 'storyboard', 'film'];

/** Staff at work, a platform with faults, vendors with moods, and a process that dies: from one seed. */
class Chaos {
  readonly random: Random;
  readonly typed = new Map<string, number>();
  readonly running = new Map<ExecutionId, string>();
  readonly overlaps: string[] = [];
  /** Rows whose artifacts staff have changed or removed. */
  readonly touched = new Set<string>();
  world!: World;
  life: Life = { isOver: false, callsLeft: Infinity, isLastDone: true };
  faultsLeft = 0;
  serial = 0;

  constructor(seed: number) {
    this.random = createSeededRandom(seed);
  }

  pick<T>(values: readonly T[]): T {
    return values[randomInt(this.random, values.length)]!;
  }

  chance(share: number): boolean {
    return this.random.next() < share;
  }

  async begin(): Promise<void> {
    this.world = await createWorld({ confirmSetting: () => this.chance(0.5) });
    const { engine, feishu } = this.world;
    // The world's own first side is immortal: it must not work beside the mortal ones.
    await this.world.side.stop();
    for (const id of rowIds) this.world.newRow(id, { 操作: null });
    engine.onSubmit = async (submit) => {
      const row = submit.sourceRef;
      const record = /\/(rec\d)#/.exec(row)?.[1] ?? '';
      for (const [id, other] of this.running) {
        const execution = await this.world.store.execution(id);
        if (other === record && execution?.endedAt === undefined) this.overlaps.push(row);
      }
      this.running.set(submit.executionId, record);
    };
    feishu.fault = (call) => {
      if (this.faultsLeft <= 0 || call.name === 'fields') return undefined;
      this.faultsLeft -= 1;
      if (this.chance(0.4)) return undefined;
      if (call.name === 'update' && this.chance(0.3)) {
        return { failure: failure(1255040, { outcome: 'unknown' }), isDone: this.chance(0.5) };
      }
      return {
        failure: this.chance(0.5) ? failure(1254291, { class: 'conflict' }) : failure(0, { outcome: 'unknown' }),
      };
    };
    await this.restart();
  }

  async restart(): Promise<void> {
    this.life.isOver = true;
    this.life = { isOver: false, callsLeft: Infinity, isLastDone: this.chance(0.5) };
    const { feishu, engine, store } = this.world;
    await this.world.restart({
      client: mortal(feishu, this.life),
      engine: mortal(engine, this.life),
      store: mortal(store, this.life),
    });
  }

  async step(): Promise<void> {
    const dice = this.random.next();
    if (dice < 0.3) this.type();
    else if (dice < 0.6) await this.vendor();
    else if (dice < 0.7) this.faultsLeft += 1 + randomInt(this.random, 6);
    else if (dice < 0.78) this.spoilSearch();
    else if (dice < 0.9) this.life.callsLeft = 1 + randomInt(this.random, 40);
    else if (dice < 0.92) this.touchArtifacts();
    void this.world.side.tick().catch(() => undefined);
    await this.world.settle(500 * (1 + randomInt(this.random, 20)));
    if (this.life.isOver && this.chance(0.7)) await this.restart();
  }

  type(): void {
    const id = this.pick(rowIds);
    this.world.put(id, { 操作: this.pick(words) });
    this.typed.set(id, (this.typed.get(id) ?? 0) + 1);
  }

  async vendor(): Promise<void> {
    const open = this.world.engine.submits.filter((submit) => this.running.has(submit.executionId));
    if (open.length === 0) return;
    const submit = this.pick(open);
    const execution = await this.world.store.execution(submit.executionId);
    if (execution === undefined || execution.endedAt !== undefined) {
      this.running.delete(submit.executionId);
      return;
    }
    const stage = submit.sourceRef.split('#')[1] ?? '';
    this.serial += 1;
    const dice = this.random.next();
    if (dice < 0.15 && execution.status !== 'held') {
      await this.world.engine.hold(submit.executionId);
      return;
    }
    this.running.delete(submit.executionId);
    if (dice < 0.7) {
      const output = await this.world.output(stage, `${stage}${this.serial}`);
      await this.world.engine.finish(submit.executionId, { output });
    } else await this.world.engine.finish(submit.executionId, { status: 'failed' });
  }

  spoilSearch(): void {
    const { feishu } = this.world;
    const old = rowIds.map((id): RawRecord => ({ recordId: id, fields: { ...this.world.row(id) } }));
    feishu.searchInstead = this.pick<NonNullable<typeof feishu.searchInstead>>([
      () => [],
      (truth) => [...truth, ...truth],
      () => old,
      (truth) => [...truth, ...rowIds.map((recordId) => ({ recordId, fields: {} }))],
    ]);
    this.world.clock.after(20_000, () => {
      feishu.searchInstead = undefined;
    });
  }

  touchArtifacts(): void {
    const id = this.pick(rowIds);
    const column = this.pick(['上身图', '分镜图']);
    this.touched.add(id);
    this.world.put(id, { [column]: this.chance(0.5) ? null : [this.world.photo(`staff${this.serial}.png`)] });
  }

  /** Everything heals, vendors end what runs, and the world is watched until it is quiet. */
  async end(): Promise<void> {
    const { engine, feishu } = this.world;
    this.faultsLeft = 0;
    feishu.searchInstead = undefined;
    await this.restart();
    for (let round = 0; round < 12; round += 1) {
      await this.world.settle(60_000);
      await this.world.turn();
      for (const submit of engine.submits) {
        const execution = await this.world.store.execution(submit.executionId);
        if (execution?.endedAt !== undefined || execution?.status === 'held') continue;
        const stage = submit.sourceRef.split('#')[1] ?? '';
        this.serial += 1;
        await engine.finish(submit.executionId, { output: await this.world.output(stage, `${stage}${this.serial}`) });
      }
    }
    await this.world.settle(120_000);
    await this.world.turn();
  }
}

describe('staff, faults and crashes together', () => {
  it.each(Array.from({ length: Number(process.env['CHAOS_SEEDS'] ?? 40) }, (_value, index) => index + 1))(
    'seed %i: every word answered, nothing run twice, every row at rest',
    async (seed) => {
      const chaos = new Chaos(seed);
      await chaos.begin();
      for (let step = 0; step < Number(process.env['CHAOS_STEPS'] ?? 60); step += 1) await chaos.step();
      await chaos.end();
      const { world } = chaos;
      expect(chaos.overlaps).toEqual([]);
      expect(await world.store.documents('bitable-command')).toEqual([]);
      expect(await world.store.outbox(10)).toEqual([]);
      for (const id of rowIds) {
        expect(world.cell(id, '操作')).toBeUndefined();
        const document = await world.store.document('bitable-row', `app1/${tableId}/${id}`);
        const status = world.cell(id, '状态') ?? '';
        expect([id, status]).toEqual([id, document?.value['status'] ?? '']);
        expect(status).not.toBe('生成中');
        const starts = world.engine.submits.filter(
          (submit) => submit.sourceRef.includes(`/${id}#`) && !submit.idempotencyKey.startsWith('chain:'),
        );
        expect(starts.length).toBeLessThanOrEqual(chaos.typed.get(id) ?? 0);
        const last = world.engine.submits.findLast((submit) => submit.sourceRef.includes(`/${id}#`));
        const ended = last === undefined ? undefined : await world.store.execution(last.executionId);
        if (ended !== undefined && ended.status !== 'held' && !chaos.touched.has(id)) {
          const fitting = { succeeded: ['待确认', '完成', '已取消'], failed: ['失败', '已取消'], canceled: ['已取消'] };
          const isKept = /回传表格失败/.test(JSON.stringify(world.cell(id, '报错') ?? ''));
          if (!isKept) expect(Object.entries(fitting).find(([end]) => end === ended.status)?.[1]).toContain(status);
        }
        if (status !== '待确认' || chaos.touched.has(id)) continue;
        const waiting = stages[Number(document?.value['stage'] ?? 0)] ?? '';
        const column = { portrait: '上身图', storyboard: '分镜图', film: '视频' }[waiting] ?? '';
        expect(world.tokens(id, column).length).toBeGreaterThan(0);
      }
      const foreign = world.feishu.writes.flatMap((write) => Object.keys(write.fields));
      for (const column of ['产品图', '产品说明', '打回意见', '提交人']) expect(foreign).not.toContain(column);
    },
  );
});
