import { botColumns, type ColumnFault, type LackingOptions, provision } from '../../bitable/index.ts';
import type { AgentDefinition } from '../../contract/index.ts';
import { parseTableSetting } from '../../feishu/index.ts';
import { type App, type Hour, HourFault } from './hour.ts';

/** What became of an agent's table. */
export interface MadeTable {
  readonly agent: string;
  readonly title: string;
  readonly tableId: string;
  readonly isNew: boolean;
  readonly created: readonly string[];
  readonly faults: readonly ColumnFault[];
  readonly lacking: readonly LackingOptions[];
}

/** Which agents shall run: by flag, else asked, with those that already have a table as the preset. */
export async function chooseAgents(hour: Hour, flag: string | undefined): Promise<readonly AgentDefinition[]> {
  const all = [...hour.config.definitions.agents.values()];
  const bound = all.filter((agent) => hour.known(agent.table_env) !== undefined);
  const preset = bound.length === 0 ? 'all' : bound.map(({ agent }) => agent).join(',');
  if (flag === undefined && !hour.asker.isSilent) {
    hour.say('');
    for (const agent of all) hour.say(`  ${agent.agent.padEnd(20)}  ${agent.title}`);
  }
  for (;;) {
    const written = flag ?? (await hour.asker.ask('Which agents shall run (names with commas, or all)', preset));
    const names = written.split(/[,，\s]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => name !== 'all' && !hour.config.definitions.agents.has(name));
    if (unknown.length === 0 && names.length > 0)
      return names.includes('all') ? all : all.filter(({ agent }) => names.includes(agent));
    const fault = `no agent "${unknown.join(', ')}"; there are: ${all.map(({ agent }) => agent).join(', ')}, or all`;
    if (flag !== undefined || hour.asker.isSilent) throw new HourFault(2, `--agents: ${fault}`);
    hour.say(fault);
  }
}

/** Makes or completes each agent's table, and names it in `.env`. Never deletes, renames or retypes. */
export async function makeTables(
  hour: Hour,
  app: App,
  appToken: string,
  agents: readonly AgentDefinition[],
): Promise<readonly MadeTable[]> {
  const made: MadeTable[] = [];
  for (const agent of agents) {
    const home = await homeOf(hour, app, agent, appToken);
    const answer = await provision(app.client, agent, home.appToken, home.tableId);
    if (!answer.ok) {
      const { code, message } = answer.failure;
      throw new HourFault(1, `${agent.title}: ${message} (${code}); what was made so far stays, run init again`);
    }
    const { table, isNewTable, ...found } = answer.value;
    const setting = table.appToken === appToken ? table.tableId : `${table.appToken}/${table.tableId}`;
    await hour.envFile.set({ [agent.table_env]: setting });
    made.push({ agent: agent.agent, title: agent.title, tableId: table.tableId, isNew: isNewTable, ...found });
    hour.say(`  ${agent.agent}: ${describe(isNewTable, found.created)} (${agent.table_env}=${setting})`);
    for (const { column, options } of found.lacking)
      hour.say(
        `    ${column} lacks the options ${options.join(' ')}\n    → add them in the table (init changes no column)`,
      );
    for (const fault of found.faults) hour.say(`    ${fault.problem}\n    → ${fault.remedy}`);
  }
  return made;
}

function describe(isNew: boolean, created: readonly string[]): string {
  if (isNew) return `table made, ${created.length} columns`;
  return created.length === 0 ? 'table complete, nothing added' : `added ${created.join(' ')}`;
}

/** Where the agent's table lies, when it is named already: its own base counts. */
async function homeOf(
  hour: Hour,
  app: App,
  agent: AgentDefinition,
  appToken: string,
): Promise<{ readonly appToken: string; readonly tableId?: string }> {
  const written = hour.known(agent.table_env);
  if (written === undefined) return { appToken };
  const parsed = parseTableSetting(written);
  if (!parsed.ok) throw new HourFault(1, `${agent.table_env}: ${parsed.failure}`);
  const { base, tableId } = parsed.value;
  if (base === undefined) return { appToken, tableId };
  const resolved = await app.client.resolveBase(base.kind === 'wiki' ? `wiki/${base.token}` : base.token);
  if (!resolved.ok) throw new HourFault(1, `${agent.table_env}: ${resolved.failure.message}`);
  return { appToken: resolved.value, tableId };
}

/** Columns that only the bot writes: what to lock. */
export function botColumnsOf(agents: readonly AgentDefinition[]): readonly string[] {
  return [...new Set(agents.flatMap((agent) => botColumns(agent)))];
}
