import { z } from 'zod';
import { durationSchema } from './config-values.ts';

const holdOrRetry = z.enum(['hold', 'retry']);
const rhythm = z.strictObject({ first: durationSchema, interval: durationSchema, deadline: durationSchema });
/** A decimal string of yuan, or a number. */
const cny = z.union([z.number().nonnegative(), z.string()]);
const bytes = z
  .string()
  .regex(/^\d+(B|KiB|MiB|GiB)$/, 'write it like 20MiB or 2GiB')
  .transform((text) => {
    const unit = /[A-Za-z]+$/.exec(text)?.[0] ?? 'B';
    const factor = unit === 'GiB' ? 1024 ** 3 : unit === 'MiB' ? 1024 ** 2 : unit === 'KiB' ? 1024 : 1;
    return Number.parseInt(text, 10) * factor;
  });

/** `config/gridloom.yaml`: every key is there with its default; `GRIDLOOM__A__B` overrides a scalar. */
export const settingsSchema = z.strictObject({
  poll: z.strictObject({ interval: durationSchema, sweep_interval: durationSchema }),
  feishu: z.strictObject({
    wakeups: z.boolean(),
    plan: z.enum(['basic', 'paid']),
    monthly_call_budget: z.int().positive(),
    write_spacing: durationSchema,
    /** Media calls a second; Feishu allows five. `0` switches the limit off (benchmarks). */
    media_calls_per_second: z.number().nonnegative(),
  }),
  vendor_poll: z.strictObject({ text: rhythm, image: rhythm, video: rhythm }),
  retry: z.strictObject({ attempts: z.int().min(1).max(10), delay: durationSchema }),
  timeouts: z.strictObject({
    connect: durationSchema,
    submit: durationSchema,
    query: durationSchema,
    text: durationSchema,
    transfer_idle: durationSchema,
    drain: durationSchema,
  }),
  transfer: z.strictObject({
    attempts: z.int().min(1).max(10),
    delay: durationSchema,
    max_bytes: bytes,
    /** Largest input picture. */
    max_input_bytes: bytes,
    /** Comma list of hosts that may resolve to private addresses and use http. */
    allow_hosts: z.string(),
  }),
  unknown_outcome: z.strictObject({ text: holdOrRetry, image: holdOrRetry, video: holdOrRetry }),
  overdue: z.strictObject({ image: holdOrRetry, video: holdOrRetry }),
  alerts: z.strictObject({ cooldown: durationSchema, daily_summary: z.string() }),
  balance: z.strictObject({
    interval: durationSchema,
    threshold: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
  money: z.strictObject({
    /** CNY for one unit, dated. */
    rates: z.record(z.string(), z.strictObject({ cny: z.string(), dated: z.iso.date() })),
    /** Price of one credit of a vendor. */
    credit: z.record(z.string(), z.strictObject({ amount: z.string(), currency: z.string(), dated: z.iso.date() })),
  }),
  limits: z.strictObject({
    concurrency: z.record(z.string(), z.int().min(1)),
    rate: z.record(z.string(), z.string()),
    daily_cost: z.record(z.string(), cny),
    daily_cost_per_submitter: cny.optional(),
    row_cost: z.record(z.string(), cny),
    max_paid_calls: z.int().min(1).max(50),
    /** Starts of one row an hour; above that it is parked (a loop with another automation). */
    starts_per_row_per_hour: z.int().min(1),
  }),
  storage: z.strictObject({
    /** Below so much free space no intent is written. */
    min_free: bytes,
    keep_days: z.int().min(1),
    /** Files that are in their rows leave the spool after so many days. */
    spool_days: z.int().min(1),
  }),
  media: z.strictObject({ ai_label: z.enum(['none', 'metadata', 'visible']) }),
});

export type Settings = z.infer<typeof settingsSchema>;
