import type { Command } from '../command.ts';
import { backupCommand } from './backup.ts';
import { balancesCommand, ledgerCommand } from './money.ts';
import { demoCommand } from './demo.ts';
import { eventsCommand } from './events.ts';
import { executionsCommand, showCommand } from './executions.ts';
import { startCommand } from './start.ts';
import { cancelCommand, pauseCommand, rerunCommand, resolveCommand, resumeCommand } from './steer.ts';
import { validateCommand } from './validate.ts';

/** Every command of the operator's contract, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  startCommand,
  demoCommand,
  validateCommand,
  executionsCommand,
  showCommand,
  rerunCommand,
  cancelCommand,
  resolveCommand,
  eventsCommand,
  ledgerCommand,
  balancesCommand,
  pauseCommand,
  resumeCommand,
  backupCommand,
];
