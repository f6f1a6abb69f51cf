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

/** Beginnings and phrases that speak of the result before, not of the original. */
const followUp =
  /^(再|继续|接着|还是|然后|另外|稍微|稍稍|更)|(基于|在|把|按)?(刚才|上一?[版张次]|上个|之前|前面|现有|这个结果|当前结果)(的|这)?|(太|有点|不够)(亮|暗|黑|白|红|黄|蓝|绿|大|小|多|少|浓|淡|满|空|假|硬|软|糊)/;

/**
 * `edit.base {request, originals, previous}` → `{images, is_follow_up, note}`: what an edit starts from. By code, not by a
 * model: the same words always mean the same, and cost nothing.
 */
export const chooseEditBase: NodeFunction = defineFunction('edit.base', input, ({ request, originals, previous }) => {
  const earlier = previous?.slice(0, 1) ?? [];
  const isFollowUp = earlier.length > 0 && followUp.test(request.trim());
  const images = isFollowUp ? earlier : (originals ?? []);
  const note = isFollowUp ? '在上一版结果上继续修改' : images.length === 0 ? '没有原图，直接生成' : '从原图开始';
  return Promise.resolve(ok({ images: images.map((image) => ({ ...image })), is_follow_up: isFollowUp, note }));
});
