import { Refusal } from './refusal.ts';

export interface Page<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
  readonly pageToken: string | undefined;
}

/** A page out of a list; the token carries where to go on. */
export function takePage<T>(
  all: readonly T[],
  query: URLSearchParams,
  sizes: { readonly usual: number; readonly most: number },
): Page<T> {
  const sizeText = query.get('page_size');
  const size = sizeText === null ? sizes.usual : Number(sizeText);
  if (!Number.isInteger(size) || size < 1 || size > sizes.most) throw new Refusal(1254011, 'page_size out of range');
  const token = query.get('page_token');
  const match = token === null || token === '' ? undefined : /^pg(\d+)$/.exec(token);
  if (match === null) throw new Refusal(1254030, 'bad page_token');
  const start = Number(match?.[1] ?? '0');
  const items = all.slice(start, start + size);
  const hasMore = start + size < all.length;
  return { items, hasMore, pageToken: hasMore ? `pg${start + size}` : undefined };
}
