import { type RunCommand, exitCodes } from '../command.ts';
import { openConfig } from '../data.ts';

export const runValidate: RunCommand = async (input, io) => {
  const config = await openConfig(io);
  if (!config.ok) return config.failure;
  const { definitions, environment, activeProviders } = config.value;
  const counts = {
    mode: environment.mode,
    agents: definitions.agents.size,
    workflows: definitions.workflows.size,
    skills: definitions.skills.size,
    prompts: definitions.prompts.size,
    providers: activeProviders.map((provider) => provider.id),
  };
  if (input.json) io.out(JSON.stringify({ ok: true, ...counts }));
  else
    io.out(
      `configuration is sound: ${counts.agents} agents, ${counts.workflows} workflows, ${counts.skills} skills, ${counts.prompts} prompts; mode ${counts.mode}; providers ${counts.providers.join(', ')}`,
    );
  return exitCodes.done;
};
