export { assertNever } from './assert-never.ts';
export {
  AbortedError,
  type Clock,
  createSystemClock,
  createVirtualClock,
  deadline,
  endOfTurn,
  nextTurn,
  sleep,
  type VirtualClock,
} from './clock.ts';
export { formatDuration, parseDuration } from './duration.ts';
export { type FailpointName, type Failpoints, failpointNames, noFailpoints } from './failpoint.ts';
export { type Fetch, type FetchBody, type FetchInit, TransportError } from './fetch.ts';
export {
  type AttemptId,
  attemptId,
  type Branded,
  type ChargeId,
  type CommandId,
  chargeId,
  commandId,
  createIdSource,
  type ExecutionId,
  executionId,
  type IdSource,
} from './ids.ts';
export { canonicalJson, isJsonObject, type Json, type JsonObject, jsonObjectOf } from './json.ts';
export { type LogFields, type Logger, silentLogger } from './logger.ts';
export {
  addMoney,
  convertMoney,
  formatMicros,
  type Money,
  microsPerUnit,
  money,
  parseMoney,
  priceOf,
} from './money.ts';
export { createSeededRandom, createSystemRandom, fullJitterMs, type Random, randomInt } from './random.ts';
export { fail, ok, type Result } from './result.ts';
export { Secret } from './secret.ts';
