import type { FailureKind } from '../../contract/index.ts';
import { kindOfStatus, type VendorError } from '../common/index.ts';
import { envelopeSchema } from './wire.ts';

/** 403 in the vendor's own envelope says "You do not have enough money"; a bare 403 stays what it is elsewhere: the key. */
const ownKinds: Readonly<Record<number, FailureKind>> = { 403: 'balance' };

export interface BochaError extends VendorError {
  readonly status: number;
}

/** The vendor's own error, in whatever HTTP status it came; undefined for a good answer, and for what is no envelope. */
export function readBochaError(json: unknown): BochaError | undefined {
  const envelope = envelopeSchema.safeParse(json).data;
  if (envelope === undefined || !Number.isInteger(envelope.code) || envelope.code === 200) return undefined;
  const { code } = envelope;
  return {
    status: code,
    code: String(code),
    message: envelope.message ?? envelope.msg ?? `code ${code}`,
    kind: ownKinds[code] ?? kindOfStatus(code),
    ...(typeof envelope.log_id === 'string' ? { requestId: envelope.log_id } : {}),
  };
}
