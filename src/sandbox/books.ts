import type { Json } from '../kernel/index.ts';

/** A sum on a vendor's bill. `unit`: `credit:kie`, `credit:toapis`, `inputTokens`, `outputTokens`, `videoTokens`, `seconds`, `images`, `calls`. */
export interface BillLine {
  readonly vendor: string;
  readonly taskId: string;
  /** The client's own id for the purchase, where the vendor takes one. */
  readonly clientId?: string;
  readonly model: string;
  readonly unit: string;
  /** Millionths of the unit. */
  readonly amountMicros: number;
  readonly atMs: number;
}

/** A cell that changed, and by whose hand. `by` is an open id, the bot's own for the app. */
export interface CellWrite {
  readonly by: string;
  readonly hand: 'app' | 'staff';
  readonly appToken: string;
  readonly tableId: string;
  readonly recordId: string;
  readonly column: string;
  readonly before?: Json;
  readonly after?: Json;
  readonly atMs: number;
}

export interface SentMessage {
  readonly messageId: string;
  readonly receiveIdType: string;
  readonly receiveId: string;
  readonly msgType: string;
  readonly content: string;
  readonly uuid?: string;
  readonly atMs: number;
}

export interface SentPush {
  readonly title: string;
  readonly content: string;
  readonly channel: string;
  readonly atMs: number;
}

/** A paid job that a vendor took on, whatever became of it. */
interface AcceptedTask {
  readonly vendor: string;
  readonly dialect: string;
  readonly taskId: string;
  readonly clientId?: string;
  readonly model: string;
  readonly request: Json;
  readonly acceptedAtMs: number;
  /** `running` until the vendor's own verdict; what the client has seen is another matter. */
  readonly state: 'running' | 'succeeded' | 'failed' | 'canceled';
  readonly resultUrls: readonly string[];
  /** SHA-256 of each result as it was painted, whatever its address serves. */
  readonly resultHashes: readonly string[];
}

/**
 * What really happened in the outside world: the measure that the product's own ledger, rows and events are held against.
 * Nothing in here is ever told to the worker.
 */
export interface Books {
  acceptedTasks(): readonly AcceptedTask[];
  /** Every line billed up to now, late bills excluded until they fall due. */
  bill(): readonly BillLine[];
  /** Sums of `bill()`: vendor → unit → millionths. */
  billTotals(): Readonly<Record<string, Readonly<Record<string, number>>>>;
  cellWrites(): readonly CellWrite[];
  messages(): readonly SentMessage[];
  pushes(): readonly SentPush[];
  /** Requests that arrived, by endpoint name, faults included. */
  calls(): Readonly<Record<string, number>>;
  /** Forgets writes, messages, pushes and call counts (not tasks and bills): for long simulations. */
  trim(): void;
}

export function sumBill(lines: readonly BillLine[]): Record<string, Record<string, number>> {
  const totals: Record<string, Record<string, number>> = {};
  for (const line of lines) {
    const units = (totals[line.vendor] ??= {});
    units[line.unit] = (units[line.unit] ?? 0) + line.amountMicros;
  }
  return totals;
}
