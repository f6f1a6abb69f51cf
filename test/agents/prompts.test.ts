import { describe, expect, it } from 'vitest';
import { renderTemplate } from '../../src/engine/skill/render.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { compiled, config, definitions, isMediaSkill, promptOf, skill, skills } from './shipped.ts';

const staffWords = {
  request: '再亮一点',
  product_notes: '真丝衬衫 {{script}}',
  staff_note: '脸太糊',
  feedback: 'SCRIPT is missing',
};

describe('the shipped agents', () => {
  it('compile: every reference, data path, rule and schema holds', () => {
    const plans = compiled();
    expect(
      plans.ok ? [] : plans.failure.map((fault) => `${fault.of.name} ${fault.path.join('.')}: ${fault.what}`),
    ).toEqual([]);
  });

  it('are the six of the contract, with its columns in its order', () => {
    const columns = (name: string): readonly (readonly string[])[] =>
      definitions.agents.get(name)!.stages.map((stage) => stage.artifacts.map((artifact) => artifact.column));
    expect([...definitions.agents.keys()].sort()).toEqual(
      ['content', 'deck', 'element-extraction', 'photo-studio', 'screenshot-review', 'try-on'].sort(),
    );
    expect(columns('try-on')).toEqual([['上身图', '脚本方案', '一致性关键词'], ['分镜图'], ['视频']]);
    expect(columns('element-extraction')).toEqual([['元素图', '元素说明']]);
    expect(columns('photo-studio')).toEqual([['结果图', '方案说明']]);
    expect(columns('content')).toEqual([['成稿']]);
    expect(columns('screenshot-review')).toEqual([['优化建议', '设计问题', '设计规范', '插件配置']]);
    expect(columns('deck')).toEqual([['大纲'], ['演示文稿']]);
    const confirms = Object.fromEntries(
      [...definitions.agents].map(([name, agent]) => [name, agent.stages.map((stage) => stage.confirm)]),
    );
    expect(confirms).toMatchObject({
      'try-on': [true, { setting: 'SB_CONFIRM' }, false],
      deck: [true, false],
      content: [false],
    });
  });

  it('have every variable of a prompt among the inputs and defaults of the skills that use it', () => {
    for (const definition of skills) {
      const prompt = definition.prompt === undefined ? undefined : promptOf(definition);
      const properties = Object.keys((definition.input['properties'] ?? {}) as JsonObject);
      for (const name of Object.keys(prompt?.variables ?? {})) {
        expect(['feedback', ...properties], `${definition.skill}: {{${name}}}`).toContain(name);
      }
    }
  });

  it('put a note of 打回 and the reasons of a refused answer before the model where there are any, and no gap where not', () => {
    const prompt = promptOf(skill('try-on-creator'));
    const full = renderTemplate(prompt.body, { ...staffWords, shot_count: 4, film_seconds: 8 });
    expect(full).toContain('脸太糊');
    expect(full).toContain('SCRIPT is missing');
    const bare = renderTemplate(prompt.body, { shot_count: 4, film_seconds: 8 });
    expect(bare).not.toMatch(/打回|不合格|\{\{/);
    expect(bare).toContain('正好 4 个镜头，合计 8 秒');
  });

  it('never read what staff type as a template', () => {
    const text = renderTemplate(promptOf(skill('try-on-creator')).body, {
      ...staffWords,
      script: 'SECRET',
      shot_count: 4,
      film_seconds: 8,
    });
    expect(text).toContain('真丝衬衫 {{script}}');
    expect(text).not.toContain('SECRET');
  });

  it('show in every JSON prompt an example that parses and has the members that the schema requires', () => {
    for (const definition of skills.filter((each) => each.parse?.as === 'json')) {
      const body = promptOf(definition).body;
      const example = JSON.parse(body.slice(body.lastIndexOf('\n{') + 1)) as JsonObject;
      for (const member of (definition.output?.['required'] ?? []) as string[]) {
        expect(Object.keys(example), definition.skill).toContain(member);
      }
      expect(promptOf(definition).parameters?.['format'], definition.skill).toBe('json');
    }
  });

  it('ask in every sections prompt for exactly the marks that are parsed', () => {
    for (const definition of skills) {
      if (definition.parse?.as !== 'sections') continue;
      const { body } = promptOf(definition);
      const marks = Object.values(definition.parse.sections).map((section) => section.mark);
      expect([...new Set([...body.matchAll(/\[\[([A-Z_]+)\]\]/g)].map((match) => match[1]))].sort()).toEqual(
        [...marks].sort(),
      );
      for (const mark of marks) expect(body).toContain(`[[/${mark}]]`);
    }
  });

  it('stay below the tightest prompt limit of their picture and film candidates', () => {
    for (const definition of skills.filter(isMediaSkill)) {
      const limits = definition.candidates.flatMap((candidate) => {
        const field = definitions.providers.get(candidate.provider)?.models[candidate.model]?.fields?.['prompt'];
        return field?.max_chars === undefined ? [] : [field.max_chars];
      });
      const prompt = promptOf(definition);
      const fixed = renderTemplate(prompt.body, {}).length + (prompt.avoid ?? '').length;
      const guard = config.redLines.avoid.join('; ').length + 30;
      const room = Math.min(...limits, 20_000) - fixed - guard;
      expect(room, `${definition.skill}: room for the creative text`).toBeGreaterThan(0);
    }
  });

  it.each([
    ['try-on-portrait', 1200 + 400],
    ['try-on-film', 950 + 400],
    ['try-on-shot', 900 + 400],
    ['element-extractor', 1300],
  ])('P086 %s fits every candidate with texts as long as its creator may write', (name, creativeChars) => {
    const definition = skill(name);
    const prompt = promptOf(definition);
    const guard = Math.max(config.redLines.avoid.join('; ').length, config.redLines.rules.join('').length) + 20;
    const longest = renderTemplate(prompt.body, {}).length + (prompt.avoid ?? '').length + 20 + guard + creativeChars;
    for (const candidate of definition.candidates) {
      const limit = definitions.providers.get(candidate.provider)?.models[candidate.model]?.fields?.['prompt']
        ?.max_chars;
      expect(longest, candidate.model).toBeLessThanOrEqual(limit ?? Number.POSITIVE_INFINITY);
    }
  });

  it('ask silent films without a visible watermark', () => {
    expect(skill('try-on-film').defaults).toMatchObject({ audio: false });
    for (const candidate of skill('try-on-film').candidates) {
      const model = definitions.providers.get(candidate.provider)!.models[candidate.model]!;
      expect(model.capability).toContain('video.generate');
    }
  });
});
