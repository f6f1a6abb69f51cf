import { workflowSchema } from '../../src/contract/index.ts';

const number = { type: 'object', properties: { value: { type: 'integer' } }, required: ['value'] };

/** Five steps, each reading what the one before it wrote. */
export const fiveSteps = workflowSchema.parse({
  workflow: 'five-steps',
  input: number,
  nodes: Object.fromEntries(
    [1, 2, 3, 4, 5].map((step) => [
      `step_${step}`,
      {
        kind: 'function',
        function: 'add-one',
        input: { value: step === 1 ? '$.input.value' : `$.nodes.step_${step - 1}.output.value` },
      },
    ]),
  ),
  output: { value: '$.nodes.step_5.output.value' },
});

/** A graph of `size` nodes, each reading three earlier ones. */
export function wideGraph(size) {
  const nodes = {};
  for (let index = 0; index < size; index += 1) {
    const input = {};
    for (const back of [1, 7, 31]) {
      const earlier = index - back;
      input[`from_${back}`] = earlier < 0 ? '$.input.value' : `$.nodes.n${earlier}.output.value`;
    }
    nodes[`n${index}`] = { kind: 'function', function: 'add-one', input };
  }
  return workflowSchema.parse({
    workflow: 'wide',
    input: number,
    nodes,
    output: { value: `$.nodes.n${size - 1}.output.value` },
  });
}
