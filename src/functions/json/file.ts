import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { MediaSource } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { fail, ok } from '../../kernel/index.ts';
import { defineFunction, jsonSchema } from '../define.ts';

const input = z.strictObject({
  value: jsonSchema,
  name: z.string(),
  /** JSON Schema (2020-12) that the value must fit, or nothing is written. */
  schema: z.record(z.string(), z.json()).optional(),
});

/** `json.file {value, name, schema?}` → `{file}`: a JSON attachment. */
export function createJsonFile(media: MediaSource): NodeFunction {
  return defineFunction('json.file', input, async ({ value, name, schema }) => {
    if (schema !== undefined) {
      const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
      if (!ajv.validate(schema, value)) {
        return fail({ kind: 'output-invalid', code: 'json-schema', message: `${name}: ${ajv.errorsText()}` });
      }
    }
    const bytes = new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
    const kept = await media.keep(bytes, name.endsWith('.json') ? name : `${name}.json`);
    return kept.ok ? ok({ file: { ...kept.value } }) : kept;
  });
}
