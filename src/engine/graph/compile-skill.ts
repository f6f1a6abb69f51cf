import { type Definitions, type PromptDefinition, type SkillDefinition } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { parseExpression } from './expression.ts';
import { didYouMean, type Fault } from './faults.ts';
import { compileSchema } from './json-schema.ts';
import { readMapping } from './path.ts';
import type { PlanCandidate, PlanSkill } from './plan.ts';

const aboutRules = 'a rule is CEL over `input` and `output`';

/** Checks a skill and gathers its prompt and its candidates' models. */
export function compileSkill(skill: SkillDefinition, definitions: Definitions, fault: Fault): PlanSkill {
  const prompt = skill.prompt === undefined ? undefined : definitions.prompts.get(skill.prompt);
  if (skill.prompt !== undefined && prompt === undefined) {
    fault(['prompt'], `no prompt named "${skill.prompt}"`, didYouMean(skill.prompt, definitions.prompts.keys()));
  }
  checkSchema(skill.input, ['input'], fault);
  if (skill.output !== undefined) checkSchema(skill.output, ['output'], fault);
  for (const [place, mapping] of [['defaults', skill.defaults] as const]) {
    for (const each of mapping === undefined ? [] : readMapping(mapping).faults)
      fault([place, ...each.at], each.what, 'see the data paths');
  }
  checkVerify(skill, definitions, fault);
  if (prompt !== undefined) checkVariables(skill, prompt, fault);
  const candidates = skill.candidates.flatMap((candidate, at) =>
    findCandidate(skill, candidate, at, definitions, fault),
  );
  return { definition: skill, ...(prompt === undefined ? {} : { prompt }), candidates };
}

export function checkSchema(schema: JsonObject, path: readonly (string | number)[], fault: Fault): void {
  const compiled = compileSchema(schema);
  if (!compiled.ok) fault(path, `not a JSON Schema: ${compiled.failure}`, 'write it in JSON Schema 2020-12');
}

function findCandidate(
  skill: SkillDefinition,
  candidate: SkillDefinition['candidates'][number],
  at: number,
  definitions: Definitions,
  fault: Fault,
): readonly PlanCandidate[] {
  const provider = definitions.providers.get(candidate.provider);
  if (provider === undefined) {
    fault(
      ['candidates', at, 'provider'],
      `no provider named "${candidate.provider}"`,
      didYouMean(candidate.provider, definitions.providers.keys()),
    );
    return [];
  }
  const model = provider.models[candidate.model];
  if (model === undefined) {
    fault(
      ['candidates', at, 'model'],
      `"${candidate.provider}" has no model "${candidate.model}"`,
      didYouMean(candidate.model, Object.keys(provider.models)),
    );
    return [];
  }
  if (!model.capability.includes(skill.capability)) {
    fault(
      ['candidates', at, 'model'],
      `"${candidate.model}" is no model for ${skill.capability} (it does ${model.capability.join(', ')})`,
      'choose a model of that capability',
    );
    return [];
  }
  return [{ provider: candidate.provider, model: { ...model, id: candidate.model } }];
}

function checkVerify(skill: SkillDefinition, definitions: Definitions, fault: Fault): void {
  for (const [at, check] of (skill.verify ?? []).entries()) {
    if ('cel' in check) {
      const parsed = parseExpression(check.cel, ['input', 'output']);
      if (!parsed.ok) fault(['verify', at, 'cel'], parsed.failure, aboutRules);
      continue;
    }
    const judge = definitions.skills.get(check.judge);
    if (judge === undefined) {
      fault(
        ['verify', at, 'judge'],
        `no skill named "${check.judge}"`,
        didYouMean(check.judge, definitions.skills.keys()),
      );
    } else if (check.judge === skill.skill || (judge.verify ?? []).some((each) => 'judge' in each)) {
      fault(['verify', at, 'judge'], 'a judge has no judge of its own', 'let the judge check by rules only');
    }
    for (const each of readMapping(check.input ?? {}).faults)
      fault(['verify', at, 'input', ...each.at], each.what, 'see the data paths');
  }
}

/** Variables that the body uses must be declared: a typo would leave a hole in the prompt. */
function checkVariables(skill: SkillDefinition, prompt: PromptDefinition, fault: Fault): void {
  const used = new Set(
    [...`${prompt.body}\n${prompt.system ?? ''}`.matchAll(/\{\{[#/]?\s*([^}\s]+)\s*\}\}/g)].map(
      (match) => match[1] ?? '',
    ),
  );
  for (const name of used) {
    if (prompt.variables[name] === undefined) {
      fault(
        ['prompt'],
        `prompt "${prompt.prompt}" uses {{${name}}}, which it does not declare`,
        didYouMean(name, Object.keys(prompt.variables)),
      );
    }
  }
  for (const name of Object.keys(skill.degrade?.output ?? {})) {
    if (name === '') fault(['degrade', 'output'], 'an output member without a name', 'name it');
  }
}
