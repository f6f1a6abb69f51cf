import { describe, expect, it } from 'vitest';
import { compile } from '../../src/engine/index.ts';
import { define, imageSkill, textSkill } from './support/definitions.ts';

const fn = (input: object = {}, extra: object = {}): object => ({
  kind: 'function',
  function: 'echo',
  input,
  ...extra,
});

function faultsOf(nodes: object, extra: object = {}): readonly string[] {
  const result = compile(
    define({
      workflows: [
        {
          workflow: 'w',
          input: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } },
          nodes,
          output: {},
          ...extra,
        },
      ],
      skills: [
        imageSkill('painter', {
          input: {
            type: 'object',
            required: ['prompt'],
            properties: { prompt: { type: 'string' }, count: { type: 'integer' } },
          },
        }),
        textSkill('writer', {
          parse: { as: 'sections', sections: { title: { mark: '[[TITLE]]' }, body: { mark: '[[BODY]]' } } },
        }),
      ],
    }),
    { functions: new Set(['echo']) },
  );
  return result.ok ? [] : result.failure.map((fault) => `${fault.path.join('.')}: ${fault.what} (${fault.advice})`);
}

function edgesOf(nodes: object): Readonly<Record<string, readonly string[]>> {
  const result = compile(define({ workflows: [{ workflow: 'w', input: {}, nodes, output: {} }] }));
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  const graph = result.value.plans.get('w')?.plan.graphs['w'];
  return Object.fromEntries(
    (graph?.nodes ?? []).map((node) => [
      node.id,
      node.incoming.map((edge) => `${edge.from}${edge.branch === undefined ? '' : `.${edge.branch}`}:${edge.kind}`),
    ]),
  );
}

describe('refused at load', () => {
  it('P057 a cycle, with its path', () => {
    expect(
      faultsOf({ a: fn({}, { after: ['c'] }), b: fn({ x: '$.nodes.a.output.x' }), c: fn({}, { after: ['b'] }) }),
    ).toEqual([expect.stringMatching(/nodes wait for each other: (a → b → c → a|b → c → a → b|c → a → b → c)/)]);
  });

  it('P057 a step that names itself, or falls back on what waits for it', () => {
    expect(faultsOf({ a: fn({}, { after: ['a'] }) })[0]).toContain('a → a');
    expect(
      faultsOf({ a: fn(), b: fn({ x: '$.nodes.a.output.x' }, { on_failure: { fallback: { node: 'a' } } }) })[0],
    ).toContain('wait for each other');
    expect(
      faultsOf({
        a: fn({}, { on_failure: { fallback: { node: 'b' } } }),
        c: fn({ x: '$.nodes.a.output.x' }),
        b: fn({ x: '$.nodes.c.output.x' }),
      })[0],
    ).toContain('→');
  });

  it('names that nothing answers to, with the nearest that something does', () => {
    expect(faultsOf({ a: { kind: 'skill', skill: 'paintr', input: { prompt: 'x' } } })).toEqual([
      'nodes.a.skill: no skill named "paintr" (did you mean "painter"?)',
    ]);
    expect(faultsOf({ a: fn({ x: '$.nodes.bb.output' }), b: fn() })).toEqual([
      'nodes.a.input.x: no node named "bb" (did you mean "b"?)',
    ]);
    expect(faultsOf({ a: { kind: 'function', function: 'eco' } })[0]).toContain('no function named "eco"');
    expect(faultsOf({ a: fn({}, { after: ['zz'] }) })[0]).toContain('no node named "zz"');
  });

  it('a data path that leads nowhere', () => {
    expect(faultsOf({ a: { kind: 'skill', skill: 'writer' }, b: fn({ x: '$.nodes.a.output.titel' }) })).toEqual([
      'nodes.b.input.x: $.nodes.a.output.titel leads nowhere: there is no "titel" (did you mean "title"?)',
    ]);
    expect(faultsOf({ a: fn({ x: '$.input.txt' }) })[0]).toContain('did you mean "text"');
    expect(faultsOf({ a: fn({ x: '$.item.y' }) })[0]).toContain('$.item means nothing here');
    expect(faultsOf({ a: fn() }, { output: { x: '$.nodes.a.output.x', y: '$.nodez.a' } })[0]).toContain(
      'must begin with',
    );
  });

  it('a type that does not fit the input it feeds, and a required input that nothing feeds', () => {
    expect(faultsOf({ a: { kind: 'skill', skill: 'painter', input: { prompt: '$.input.count' } } })).toEqual([
      'nodes.a.input.prompt: a integer feeds "prompt", which takes a string (map a value of that type)',
    ]);
    expect(faultsOf({ a: { kind: 'skill', skill: 'painter', input: { count: '$.input.count' } } })[0]).toContain(
      '"prompt" is required',
    );
  });

  it('two branches of a condition that meet without a declared join', () => {
    const branches = { yes: 'input.x > 1', no: 'input.x <= 1' };
    const nodes = (extra: object): object => ({
      c: { kind: 'condition', input: { x: 2 }, branches },
      a: fn({}, { after: ['c.yes'] }),
      b: fn({}, { after: ['c.no'] }),
      d: fn({}, { after: ['a', 'b'], ...extra }),
    });
    expect(faultsOf(nodes({}))).toEqual([expect.stringContaining('branches yes and no of "c" meet here')]);
    expect(faultsOf(nodes({ join: 'any' }))).toEqual([]);
    expect(
      faultsOf({ c: { kind: 'condition', input: { x: 2 }, branches }, d: fn({}, { after: ['c.yes', 'c.no'] }) })[0],
    ).toContain('meet here');
  });

  it('a doubled edge, an unknown branch, a rule that does not parse, a schema that is none', () => {
    expect(faultsOf({ a: fn(), b: fn({}, { after: ['a', 'a'] }) })[0]).toContain('named twice');
    expect(faultsOf({ a: fn(), b: fn({}, { after: ['a.yes'] }) })[0]).toContain('has no branch "yes"');
    expect(faultsOf({ c: { kind: 'condition', branches: { yes: 'input.x >' } } })[0]).toContain('nodes.c.branches.yes');
    expect(faultsOf({ c: { kind: 'condition', branches: { yes: 'x == 1' } } })[0]).toContain('Unknown variable: x');
    expect(faultsOf({ a: fn() }, { input: { type: 'objct' } })[0]).toContain('not a JSON Schema');
  });

  it('workflows that contain each other, and a model of the wrong capability', () => {
    const inner = (name: string, other: string): object => ({
      workflow: name,
      input: {},
      nodes: { n: { kind: 'workflow', workflow: other } },
      output: {},
    });
    const nested = compile(define({ workflows: [inner('a', 'b'), inner('b', 'a')] }));
    expect(nested.ok ? '' : nested.failure[0]?.what).toContain('a → b → a');
    const wrong = compile(
      define({ workflows: [], skills: [imageSkill('p', { candidates: [{ provider: 'acme', model: 'text' }] })] }),
    );
    expect(wrong.ok ? '' : wrong.failure[0]?.what).toContain('no model for image.generate');
  });

  it('all faults at once', () => {
    expect(
      faultsOf({ a: fn({ x: '$.nodes.q.output' }), b: { kind: 'skill', skill: 'nope' }, c: fn({}, { after: ['zz'] }) }),
    ).toHaveLength(3);
  });
});

describe('transitive reduction', () => {
  it('drops an order-only edge whose order other edges give', () => {
    expect(edgesOf({ a: fn(), b: fn({}, { after: ['a'] }), c: fn({}, { after: ['a', 'b'] }) })['c']).toEqual([
      'b:order',
    ]);
  });

  it('never drops one that carries data or a branch', () => {
    const edges = edgesOf({
      a: fn(),
      b: fn({ x: '$.nodes.a.output.x' }),
      c: fn({ x: '$.nodes.a.output.x' }, { after: ['b'] }),
      d: { kind: 'condition', branches: { yes: 'true' } },
      e: fn({}, { after: ['d.yes'] }),
      f: fn({}, { after: ['d.yes', 'e'] }),
    });
    expect(edges['c']).toEqual(['a:data', 'b:order']);
    expect(edges['f']).toEqual(['d.yes:branch', 'e:order']);
  });

  it('keeps one whose other way leads through a declared join: there a skipped source does not skip', () => {
    const edges = edgesOf({
      c: { kind: 'condition', branches: { yes: 'true' } },
      a: fn({}, { after: ['c.yes'] }),
      b: fn(),
      j: fn({}, { after: ['a', 'b'], join: 'any' }),
      d: fn({}, { after: ['a', 'j'] }),
    });
    expect(edges['d']).toEqual(['a:order', 'j:order']);
  });
});

const promptFile = (body: string): object & { readonly body: string } => ({
  ...{ prompt: 'p', variables: { prompt: {} } },
  body,
});

describe('plans', () => {
  const draft = (prompt: string): Parameters<typeof define>[0] => ({
    workflows: [
      {
        workflow: 'one',
        input: {},
        nodes: { a: { kind: 'skill', skill: 'painter', input: { prompt: 'x' } } },
        output: {},
      },
      { workflow: 'two', input: {}, nodes: { a: fn() }, output: {} },
    ],
    skills: [imageSkill('painter', { prompt: 'p' })],
    prompts: [promptFile(prompt)],
  });
  const hashes = (prompt: string): readonly (string | undefined)[] => {
    const result = compile(define(draft(prompt)));
    return result.ok ? ['one', 'two'].map((name) => result.value.plans.get(name)?.hash) : [];
  };

  it('are named by their content: an edit changes the plans that use it, and no other', () => {
    const before = hashes('{{prompt}}');
    expect(hashes('{{prompt}}')).toEqual(before);
    const after = hashes('{{prompt}}!');
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  it('a graph of 2,000 nodes compiles; how fast is measured by the engine bench', () => {
    const nodes: Record<string, object> = {};
    for (let at = 0; at < 2_000; at += 1) {
      const input = at > 0 ? { x: `$.nodes.n${Math.floor(at * 0.7)}.output.x` } : {};
      nodes[`n${at}`] = fn(
        input,
        at > 2 ? { after: [...new Set([`n${at - 1}`, `n${at - 2}`, `n${Math.floor(at / 2)}`])] } : {},
      );
    }
    const definitions = define({ workflows: [{ workflow: 'w', input: {}, nodes, output: {} }] });
    expect(compile(definitions).ok).toBe(true);
  });
});
