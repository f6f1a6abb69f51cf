import { z } from 'zod';
import { artifactSchema } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';

const input = z.strictObject({
  request: z.string(),
  originals: z.array(artifactSchema).nullish(),
  /** The result that stands in the row, newest first. */
  previous: z.array(artifactSchema).nullish(),
});

/**
 * Phrases that speak of the result before, not of the original: it goes on (再亮一点, 稍微), names it (刚才, 上一版), or finds
 * fault with it (太暗了). Asking for another one (再来一张) or for an exchange (更换) begins at the original.
 */
const followUps: readonly RegExp[] = [
  /^(再(?!来|做|生成|出一|画一|给我)|继续|接着|还是(?!用原)|稍微|稍稍|更(?!换|改|新))/,
  /刚才|上一?[版张次](?!的原图)|上个结果|之前的?结果|前面的?结果|现有结果|这个结果|当前结果/,
  /(太|有点|不够)[亮暗黑白红黄蓝绿大小多少浓淡满假硬软糊](了|，|。|！|,|$)/,
];

/**
 * `edit.base {request, originals, previous}` → `{images, is_follow_up, note}`: what an edit starts from. By code, not by a
 * model: the same words always mean the same, and cost nothing.
 */
export const chooseEditBase: NodeFunction = defineFunction('edit.base', input, ({ request, originals, previous }) => {
  const earlier = previous?.slice(0, 1) ?? [];
  const isFollowUp = earlier.length > 0 && followUps.some((phrase) => phrase.test(request.trim()));
  const images = isFollowUp ? earlier : (originals ?? []);
  const note = isFollowUp ? '在上一版结果上继续修改' : images.length === 0 ? '没有原图，直接生成' : '从原图开始';
  return Promise.resolve(ok({ images: images.map((image) => ({ ...image })), is_follow_up: isFollowUp, note }));
});
