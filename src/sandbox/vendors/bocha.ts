import { z } from 'zod';
import { type JsonObject, microsPerUnit } from '../../kernel/index.ts';
import { addEndpoint, type Call, jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';
import { createAllowance, hasKey, unitsOf } from './shared.ts';

const bodySchema = z.looseObject({
  query: z.string().optional(),
  freshness: z.string().optional(),
  summary: z.boolean().optional(),
  count: z.int().min(1).max(50).optional(),
});

/** What a search costs without a pack of calls. */
const yuanMicrosPerCall = 36_000;
const givenYuan = 100;

/** Bocha: a search of a web that knows a little about everything, always the same about the same. */
export function addBochaApi(world: World): void {
  const mayCall = createAllowance(world, 5, 1_000);
  addEndpoint(world, {
    name: 'bocha.search',
    method: 'POST',
    path: '/bocha/v1/web-search',
    latency: 'vendorMs',
    handle: (call) => search(world, call, mayCall),
  });
  addEndpoint(world, {
    name: 'bocha.balance',
    method: 'GET',
    path: '/bocha/v1/fund/remaining',
    latency: 'vendorMs',
    handle: (call) =>
      hasKey(world, 'bocha', call)
        ? jsonResponse({ success: true, code: '200', msg: 'success', data: { remaining: unitsOf(leftMicros(world)) } })
        : refusal(world, 401, 'Invalid API KEY'),
  });
}

function refusal(world: World, status: number, message: string): Response {
  return jsonResponse({ code: String(status), message, log_id: newToken(world, '', 16) }, status);
}

function leftMicros(world: World): number {
  const searches = world.state.chatBill.filter((line) => line.vendor === 'bocha').length;
  return (world.state.funds['bocha'] ?? givenYuan * microsPerUnit) - searches * yuanMicrosPerCall;
}

function search(world: World, call: Call, mayCall: () => boolean): Response {
  if (!hasKey(world, 'bocha', call)) return refusal(world, 401, 'Invalid API KEY');
  if (!mayCall()) return refusal(world, 429, 'You have reached the request limit');
  const body = bodySchema.safeParse(call.json()).data;
  const query = body?.query?.trim() ?? '';
  if (body === undefined || query === '') return refusal(world, 400, 'Missing parameter query');
  if (leftMicros(world) < yuanMicrosPerCall) return refusal(world, 403, 'You do not have enough money');
  const logId = newToken(world, '', 16);
  const bill = { vendor: 'bocha', taskId: logId, model: 'web-search', unit: 'calls', atMs: world.clock.nowMs() };
  world.state.chatBill.push({ ...bill, amountMicros: microsPerUnit });
  const value = pages(query).slice(0, body.count ?? 10);
  return jsonResponse({
    code: 200,
    log_id: logId,
    msg: null,
    data: {
      _type: 'SearchResponse',
      queryContext: { originalQuery: query },
      webPages: {
        webSearchUrl: '',
        totalEstimatedMatches: value.length,
        value: body.summary === true ? value : value.map((page) => ({ ...page, summary: undefined })),
        someResultsRemoved: false,
      },
    },
  });
}

const views = ['是什么', '怎么选', '常见的误区', '今年的新变化', '价格与渠道', '使用者怎么说'] as const;

/** Pages about the words that were asked for; hosts that can never exist. */
function pages(query: string): readonly JsonObject[] {
  return views.map((view, at) => ({
    id: null,
    name: `${query}：${view}`,
    url: `https://web${at + 1}.sandbox.invalid/${encodeURIComponent(query)}`,
    snippet: `关于「${query}」：${view}。（沙箱里的网页）`,
    summary: `关于「${query}」：${view}。这一页是沙箱写的，只用来看搜索结果怎样进入后面的步骤。`,
    siteName: `沙箱网站${at + 1}`,
    datePublished: `2026-0${at + 1}-15T08:00:00+08:00`,
    dateLastCrawled: `2026-0${at + 1}-15T08:00:00Z`,
  }));
}
