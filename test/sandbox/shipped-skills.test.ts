import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { SkillDefinition } from '../../src/contract/index.ts';
import { promptOf, skills } from '../agents/shipped.ts';
import { openWorld } from './world.ts';

const png = `data:image/png;base64,${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64')}`;

/** Plausible values for whatever a shipped prompt may ask for. */
const values: Readonly<Record<string, string>> = {
  request: '把这张照片的亮度提高一点，背景换成白色',
  topic: '秋季新品上市计划',
  page_count: '6',
  number: '2',
  count: '2',
  words: '300',
  shot_count: '4',
  film_seconds: '8',
  script: '镜头1（2秒）：全景。{角色}走来。\n镜头2（2秒）：近景。{产品}。\n镜头3（2秒）：中景。\n镜头4（2秒）：全景。',
};

function render(template: string): string {
  return template
    .replace(/\{\{#(\w+)\}\}([\s\S]*?)\{\{\/\1\}\}/g, (_all, name: string, inner: string) =>
      /feedback|staff_note/.test(name) ? '' : inner,
    )
    .replace(/\{\{(\w+)\}\}/g, (_all, name: string) => values[name] ?? `某某${name}`);
}

async function answerOf(skill: SkillDefinition): Promise<string> {
  const world = await openWorld();
  const prompt = promptOf(skill);
  const pictures = skill.capability === 'image.analyze' ? [{ type: 'image_url', image_url: { url: png } }] : [];
  const answer = await world.call(
    'POST',
    '/llm/v1/chat/completions',
    {
      model: 'm',
      ...(skill.parse?.as === 'json' ? { response_format: { type: 'json_object' } } : {}),
      messages: [
        { role: 'system', content: render(prompt.system ?? '') },
        { role: 'user', content: [{ type: 'text', text: render(prompt.body) }, ...pictures] },
      ],
    },
    { authorization: 'Bearer k' },
  );
  return String(answer.at('choices.0.message.content'));
}

const chatSkills = skills.filter(({ capability }) => capability === 'text.generate' || capability === 'image.analyze');

describe('the sandbox answers every shipped skill in its own form', () => {
  it.each(chatSkills.map((skill) => [skill.skill, skill] as const))('%s', async (_name, skill) => {
    const text = await answerOf(skill);
    const { parse } = skill;
    if (parse?.as === 'json') {
      const value: unknown = JSON.parse(text);
      const check = new Ajv({ strict: false }).compile(skill.output ?? {});
      expect(check(value), JSON.stringify(check.errors) + text).toBe(true);
    } else if (parse?.as === 'sections') {
      for (const { mark, min_chars: least = 1, max_chars: most = 10_000 } of Object.values(parse.sections)) {
        const found = new RegExp(`\\[\\[${mark}\\]\\]([\\s\\S]*?)\\[\\[/${mark}\\]\\]`).exec(text)?.[1]?.trim() ?? '';
        expect(found.length, `${mark}: ${found}`).toBeGreaterThanOrEqual(least);
        expect(found.length, `${mark}: ${found}`).toBeLessThanOrEqual(most);
      }
    } else {
      expect(text.length).toBeGreaterThanOrEqual(parse?.as === 'text' ? (parse.min_chars ?? 1) : 1);
    }
  });

  it('chooses the pipeline that fits the request', async () => {
    const planner = skills.find((skill) => skill.skill === 'photo-planner');
    expect(JSON.parse(await answerOf(planner!))).toMatchObject({ workflow: 'photo-retouch' });
  });
});
