import { z } from 'zod';
import { type Failure, type WorkflowDefinition, workflowSchema } from '../../contract/index.ts';
import { fail, isJsonObject, type Json, type JsonObject, ok } from '../../kernel/index.ts';
import type { NodeFunction } from '../ports/index.ts';

declare const shape: unique symbol;

/** Stands for a value that will be there when the step runs; its members can be reached, and nothing else. */
export type Ref<T> = { readonly [shape]?: T } & (T extends readonly (infer Each)[]
  ? { readonly [index: number]: Ref<Each> }
  : T extends object
    ? { readonly [Name in keyof T]-?: Ref<T[Name]> }
    : unknown);

/** What a mapping of refs gives when the step runs. */
export type Resolved<M> = M extends { readonly [shape]?: infer T }
  ? T
  : M extends object
    ? { readonly [Name in keyof M]: Resolved<M[Name]> }
    : M;

export interface Refs<Input, Steps> {
  readonly input: Ref<Input>;
  readonly steps: { readonly [Name in keyof Steps]: Ref<Steps[Name]> };
}

export interface StepOptions<Input, Steps, M, Output extends z.ZodType> {
  /** The step's input, from the workflow's input and earlier steps: this is what makes the edges. */
  readonly map: (refs: Refs<Input, Steps>) => M;
  /** Checked at run time: a step that gives something else has failed. */
  readonly output: Output;
  readonly run: (input: Resolved<M>, signal: AbortSignal) => Promise<z.input<Output>>;
  /** Order only. */
  readonly after?: readonly (keyof Steps & string)[];
  readonly title?: string;
  readonly on_failure?: 'fail' | 'skip';
}

/** A workflow with its code: the definition compiles like any other, the functions go among the registered ones. */
export interface TypedWorkflow {
  readonly workflow: WorkflowDefinition;
  readonly functions: ReadonlyMap<string, NodeFunction>;
}

export interface WorkflowBuilder<Input, Steps> {
  step<Name extends string, M extends object, Output extends z.ZodType>(
    name: Name,
    options: StepOptions<Input, Steps, M, Output>,
  ): WorkflowBuilder<Input, Steps & Readonly<Record<Name, z.output<Output>>>>;
  build(output: (refs: Refs<Input, Steps>) => object): TypedWorkflow;
}

/**
 * A workflow in code, typed from step to step: `defineWorkflow('price', z.object({n: z.number()})).step('double', {map:
 * ({input}) => ({n: input.n}), output: z.object({n: z.number()}), run: async ({n}) => ({n: n * 2})}).build(({steps}) =>
 * ({n: steps.double.n}))`. It becomes a plan of function nodes: durable, resumable, drawn and checked as those of YAML.
 */
export function defineWorkflow<Input extends z.ZodType>(
  name: string,
  input: Input,
): WorkflowBuilder<z.output<Input>, unknown> {
  return builder(name, input, new Map(), new Map());
}

function builder<Input, Steps>(
  name: string,
  input: z.ZodType,
  nodes: ReadonlyMap<string, object>,
  functions: ReadonlyMap<string, NodeFunction>,
): WorkflowBuilder<Input, Steps> {
  const refs = refsOf<Input, Steps>();
  return {
    step: (id, options) => {
      const key = `${name}.${id}`;
      const { after, title, on_failure: onFailure } = options;
      const node = {
        kind: 'function',
        function: key,
        input: plainMapping(options.map(refs)),
        ...(after === undefined ? {} : { after: [...after] }),
        ...(title === undefined ? {} : { title }),
        ...(onFailure === undefined ? {} : { on_failure: onFailure }),
      };
      return builder(
        name,
        input,
        new Map([...nodes, [id, node]]),
        new Map([...functions, [key, checked(options.output, options.run)]]),
      );
    },
    build: (output) => ({
      workflow: workflowSchema.parse({
        workflow: name,
        input: jsonSchemaOf(input),
        nodes: Object.fromEntries(nodes),
        output: plainMapping(output(refs)),
      }),
      functions,
    }),
  };
}

function jsonSchemaOf(input: z.ZodType): JsonObject {
  const schema: unknown = z.toJSONSchema(input, { unrepresentable: 'any', io: 'input' });
  return isJsonObject(schema) ? schema : {};
}

function checked<M, Output extends z.ZodType>(
  output: Output,
  run: (input: Resolved<M>, signal: AbortSignal) => Promise<z.input<Output>>,
): NodeFunction {
  return async (input, signal) => {
    // The engine resolves exactly the mapping from which `Resolved` was inferred; earlier outputs were checked by Zod.
    const given: unknown = await run(input as Resolved<M>, signal); // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
    const parsed = output.safeParse(given);
    if (parsed.success && isJsonObject(parsed.data)) return ok(parsed.data);
    const message = parsed.success ? 'a step gives an object' : z.prettifyError(parsed.error).replaceAll('\n', ' ');
    return fail<Failure>({ kind: 'output-invalid', code: 'step-output', message });
  };
}

const pathOf = Symbol('path');

/** A proxy that remembers how it was reached. */
function refAt(path: string): object {
  return new Proxy(
    {},
    {
      get: (_target, name) => {
        if (name === pathOf) return path;
        if (typeof name === 'symbol') return undefined;
        return refAt(/^\d+$/.test(name) ? `${path}[${name}]` : `${path}.${name}`);
      },
    },
  );
}

function refsOf<Input, Steps>(): Refs<Input, Steps> {
  const steps = new Proxy(
    {},
    { get: (_target, name) => (typeof name === 'string' ? refAt(`$.nodes.${name}.output`) : undefined) },
  );
  // Proxies have no type of their own; every member that Ref names is answered by one.
  return { input: refAt('$.input'), steps } as Refs<Input, Steps>; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
}

/** Refs become their paths; everything else stays a literal. */
function plainMapping(value: object): JsonObject {
  const plain = plainValue(value);
  return isJsonObject(plain) ? plain : {};
}

function plainValue(value: unknown): Json {
  if (typeof value === 'object' && value !== null) {
    const path: unknown = Reflect.get(value, pathOf);
    if (typeof path === 'string') return path;
    if (Array.isArray(value)) return value.map(plainValue);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plainValue(each)]));
  }
  if (typeof value === 'string') return value.startsWith('$') ? `$${value}` : value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
