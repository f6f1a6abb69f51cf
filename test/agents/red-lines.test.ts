import { describe, expect, it } from 'vitest';
import type { NodeDefinition, WorkflowDefinition } from '../../src/contract/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { definitions, functions, isMediaSkill, promptOf, redLines, skill, skills, workflows } from './shipped.ts';

/** The skill that a node calls, be it directly or as the body of a map. */
function skillOf(node: NodeDefinition): string | undefined {
  if (node.kind === 'skill') return node.skill;
  return node.kind === 'map' && 'skill' in node.body ? node.body.skill : undefined;
}

/** Everything that a node's data comes from, followed back through the workflow. */
function ancestors(
  workflow: WorkflowDefinition,
  texts: readonly string[],
  seen = new Set<string>(),
): ReadonlySet<string> {
  for (const id of texts.flatMap((text) =>
    [...text.matchAll(/\$\.nodes\.([a-z0-9_]+)/g)].map((match) => match[1] ?? ''),
  )) {
    if (seen.has(id)) continue;
    seen.add(id);
    const node = workflow.nodes[id];
    ancestors(workflow, [JSON.stringify(node?.input ?? {})], seen);
  }
  return seen;
}

const drawing = workflows.flatMap((workflow) =>
  Object.entries(workflow.nodes).flatMap(([id, node]) => {
    const name = skillOf(node);
    return name !== undefined && isMediaSkill(skill(name)) ? [{ workflow, id, node, name }] : [];
  }),
);

/** Where the creative text of a drawing node comes from outside its own workflow. */
const callers = (name: string) =>
  workflows.flatMap((workflow) =>
    Object.values(workflow.nodes).flatMap((node) =>
      node.kind === 'workflow' && node.workflow === name ? [{ workflow, node }] : [],
    ),
  );

function isGuarded(workflow: WorkflowDefinition, node: NodeDefinition): boolean {
  const over = node.kind === 'map' ? [node.over] : [];
  const origins = ancestors(workflow, [JSON.stringify(node.input ?? {}), ...over]);
  const guardsHere = [...origins].some((id) => {
    const origin = workflow.nodes[id];
    return origin?.kind === 'function' && origin.function === 'text.red-lines';
  });
  if (guardsHere) return true;
  const outer = callers(workflow.workflow);
  return outer.length > 0 && outer.every((caller) => isGuarded(caller.workflow, caller.node));
}

describe('red lines: one source, three places', () => {
  it('stand in the rules of every language model that creates', () => {
    const creators = [
      'try-on-creator',
      'try-on-creator-blind',
      'try-on-transcriber',
      'element-describer',
      'photo-analyst',
      'photo-judge',
      'photo-selector',
      'content-intent',
      'content-context',
      'content-writer',
      'content-judge',
      'deck-outliner',
      'deck-page',
    ];
    for (const name of creators) {
      for (const rule of redLines.rules) expect(promptOf(skill(name)).system, name).toContain(rule);
    }
  });

  it('stand in the avoid part of every picture and film template', () => {
    const media = skills.filter(isMediaSkill);
    expect(media.length).toBeGreaterThanOrEqual(6);
    for (const definition of media) {
      for (const phrase of redLines.avoid) expect(promptOf(definition).avoid, definition.skill).toContain(phrase);
    }
  });

  it('are appended by code on the way to every picture and film', () => {
    expect(drawing.length).toBeGreaterThanOrEqual(8);
    for (const { workflow, id, node } of drawing) {
      expect(isGuarded(workflow, node), `${workflow.workflow}.${id} is not behind text.red-lines`).toBe(true);
    }
  });

  it('would be missed by the check if a workflow left the guard out', () => {
    const film = definitions.workflows.get('try-on-film')!;
    const shoot = film.nodes['shoot']!;
    const bare = { ...shoot, input: { script: '$.input.script' } } as NodeDefinition;
    expect(isGuarded(film, bare)).toBe(false);
  });

  it('come from one file: no prompt carries a copy of its own', () => {
    for (const prompt of definitions.prompts.values()) {
      for (const rule of redLines.rules) {
        const times = `${prompt.system ?? ''}\n${prompt.body}`.split(rule).length - 1;
        expect(times, `${prompt.prompt}: ${rule}`).toBeLessThanOrEqual(1);
      }
    }
  });

  it('are written in both languages, as many rules as phrases', async () => {
    expect(redLines.rules).toHaveLength(redLines.avoid.length);
    const input: JsonObject = { text: 'x', language: 'en' };
    const made = await functions.get('text.red-lines')!(input, new AbortController().signal);
    for (const phrase of redLines.avoid) expect(made.ok && made.value['text']).toContain(phrase);
  });
});
