import { z } from 'zod';
import type { PictureFacts } from './port.ts';

/** What a picture is to be; each wish that is absent is not checked. */
export const wishesSchema = z.strictObject({
  min_width: z.int().positive().optional(),
  min_height: z.int().positive().optional(),
  /** `3:4`; a deviation of 3 % is let pass. */
  ratio: z
    .string()
    .regex(/^\d+:\d+$/)
    .optional(),
  ground: z.enum(['plain', 'transparent', 'plain-or-transparent']).optional(),
  min_sharpness: z.number().positive().optional(),
});

/** Reasons in Chinese: they go to a model as what to mend, and to staff as what is wrong. */
export function judgeFacts(facts: PictureFacts, wishes: z.infer<typeof wishesSchema>): readonly string[] {
  const reasons: string[] = [];
  const { min_width: minWidth, min_height: minHeight, min_sharpness: minSharpness } = wishes;
  if (minWidth !== undefined && facts.widthPx < minWidth) {
    reasons.push(`宽度只有 ${facts.widthPx} 像素，至少要 ${minWidth}`);
  }
  if (minHeight !== undefined && facts.heightPx < minHeight) {
    reasons.push(`高度只有 ${facts.heightPx} 像素，至少要 ${minHeight}`);
  }
  if (wishes.ratio !== undefined && !hasRatio(facts, wishes.ratio)) {
    reasons.push(`画面比例应为 ${wishes.ratio}，实际为 ${facts.widthPx}:${facts.heightPx}`);
  }
  if (wishes.ground !== undefined && !hasGround(facts, wishes.ground)) {
    reasons.push(`背景不干净：四周只有 ${Math.round(facts.groundRatio * 100)}% 是同一底色，应为纯净单色底或透明底`);
  }
  if (minSharpness !== undefined && facts.sharpness < minSharpness) {
    reasons.push(`画面偏糊（清晰度 ${facts.sharpness.toFixed(1)}，至少要 ${minSharpness}）`);
  }
  return reasons;
}

function hasRatio(facts: PictureFacts, ratio: string): boolean {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const wanted = width / height;
  return Math.abs(facts.widthPx / facts.heightPx - wanted) / wanted <= 0.03;
}

function hasGround(facts: PictureFacts, wanted: 'plain' | 'transparent' | 'plain-or-transparent'): boolean {
  return wanted === 'plain-or-transparent' ? facts.ground !== 'busy' : facts.ground === wanted;
}
