import { type Json, type JsonObject, randomInt } from '../../kernel/index.ts';
import { jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';

/** An error of the open platform, thrown inside handlers and dressed by the gate. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: number;
  /** HTTP status of its `4xx` form. */
  readonly status: number;

  constructor(code: number, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** `{code: 0, msg, data}`. */
export function success(data: JsonObject): Response {
  return jsonResponse({ code: 0, msg: 'success', data });
}

/** The same refusal comes as HTTP 200 on some days and as 4xx on others: clients have to read the code. */
export function dressRefusal(world: World, refusal: Refusal): Response {
  const form = world.controls.errorForm;
  const plain = form === '200' || (form === 'alternate' && randomInt(world.random, 2) === 0);
  const logId = newToken(world, '2026', 26);
  const body: Json = { code: refusal.code, msg: refusal.message, error: { log_id: logId } };
  return jsonResponse(body, plain ? 200 : refusal.status, { 'x-tt-logid': logId });
}
