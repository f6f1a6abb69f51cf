import { z } from 'zod';
import { fail, ok } from '../kernel/index.ts';
import type { Call, CallRequest } from './caller.ts';
import type { FeishuResult } from './client.ts';
import type { EndpointName } from './endpoints.ts';
import { localFailure, readData, unreadable } from './failure.ts';

/** No table that we can work with has more pages; a server that never ends is told apart from a long table by this. */
const maxPages = 2_000;
/** Rows with much text: the same page is asked for again, with fewer rows. */
export const tooLargeCode = 1254030;
export const smallestPage = 20;

/** Items are read one by one with their own schema: schemas made anew for each call would cost more than the reading. */
const page = z.looseObject({
  items: z.array(z.unknown()).nullish(),
  has_more: z.boolean().nullish(),
  page_token: z.string().nullish(),
});

/**
 * Follows the pages of a listing. `has_more` alone says whether there are more (samples show a page token beside
 * `has_more: false`). A page without items has none; `has_more` with an empty or an already used page token would go
 * round for ever and ends as a failure: half a table must not pass for a whole one.
 */
export async function allPages<T>(
  call: Call,
  name: EndpointName,
  item: z.ZodType<T>,
  request: Omit<CallRequest, 'query'> & { readonly query: { readonly page_size: number } },
): Promise<FeishuResult<readonly T[]>> {
  const found: T[] = [];
  const usedTokens = new Set<string>();
  let pageToken: string | undefined;
  let pageSize = request.query.page_size;
  for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += 1) {
    const query = { page_size: pageSize, ...(pageToken === undefined ? {} : { page_token: pageToken }) };
    const answer = await call(name, { ...request, query });
    if (!answer.ok && answer.failure.code === tooLargeCode && pageSize > smallestPage) {
      pageSize = Math.max(smallestPage, Math.floor(pageSize / 5));
      continue;
    }
    if (!answer.ok) return answer;
    const data = readData(name, page, answer.value.body);
    if (!data.ok) return data;
    for (const [index, raw] of (data.value.items ?? []).entries()) {
      const read = readItem(name, item, raw, index);
      if (!read.ok) return read;
      found.push(read.value);
    }
    if (data.value.has_more !== true) return ok(found);
    pageToken = data.value.page_token ?? '';
    if (pageToken === '' || usedTokens.has(pageToken)) {
      const words = pageToken === '' ? 'without a page token' : 'with a page token that was used already';
      return fail(localFailure('retry', `${name}: page ${pageNumber} says there is more, ${words}`));
    }
    usedTokens.add(pageToken);
  }
  return fail(localFailure('too-large', `${name}: more than ${maxPages} pages`));
}

function readItem<T>(name: EndpointName, item: z.ZodType<T>, raw: unknown, index: number): FeishuResult<T> {
  const parsed = item.safeParse(raw);
  if (parsed.success) return ok(parsed.data);
  return fail(unreadable(name, ['data', 'items', index, ...(parsed.error.issues[0]?.path ?? [])]));
}
