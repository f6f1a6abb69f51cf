import { z } from 'zod';

const schema = z.record(z.string(), z.json());

/** Stored or prepared values (artifacts among them) as the control table takes them: JSON without absent members. */
export function plainObject(value: object): z.infer<typeof schema> {
  return schema.parse(JSON.parse(JSON.stringify(value)));
}
