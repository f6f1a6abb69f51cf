import { noLatencies, type TaskFate } from '../../src/sandbox/index.ts';
import { type Answer, openWorld, type TestWorld } from './world.ts';

export const key = { authorization: 'Bearer k' };
export const slow = { ...noLatencies, imageTaskMs: 1_000, videoTaskMs: 3_000 };

export const createKie = (world: TestWorld, input: Record<string, unknown> = {}): Promise<Answer> =>
  world.call(
    'POST',
    '/kie/api/v1/jobs/createTask',
    {
      model: input['image_urls'] === undefined ? 'google/nano-banana' : 'google/nano-banana-edit',
      input: { prompt: 'a model wearing it', ...input },
    },
    key,
  );
export const lookKie = (world: TestWorld, task: Answer): Promise<Answer> =>
  world.call('GET', `/kie/api/v1/jobs/recordInfo?taskId=${String(task.at('data.taskId'))}`, undefined, key);

export async function withFate(fate: TaskFate): Promise<{ world: TestWorld; task: Answer }> {
  const world = await openWorld({ latencies: slow });
  world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'fate', fate } });
  return { world, task: await createKie(world) };
}
