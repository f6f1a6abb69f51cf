import pino from 'pino';
import type { Clock, LogFields, Logger, Secret } from '../kernel/index.ts';
import { createLogFile } from './log-file.ts';
import { createRedactor, type Redactor } from './redact.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggerOptions {
  /** Where `gridloom.log` lies; absent: no file. */
  readonly directory?: string;
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Every secret in use; more can be registered later. */
  readonly secrets: readonly Secret[];
  /** Also writes each line here (the terminal under a process manager). */
  readonly also?: (line: string) => void;
  /** Default 20 MB a file, five old files. */
  readonly maxFileBytes?: number;
  readonly keepFiles?: number;
}

export interface ClosableLogger extends Logger {
  /** Cleans every later line of a value that became known after the start. */
  register(secret: Secret): void;
  /** The same cleaning for texts that leave by other ways. */
  readonly redactor: Redactor;
  /** Forces the file to disk; called before the process ends. */
  flush(): void;
  close(): void;
}

/**
 * The logger: one JSON object a line, a fixed message with fields. Lines are written synchronously (a transition is rare and
 * a line is short), and error lines are forced to disk, so that the reason of a crash is always there.
 */
export function createLogger(options: LoggerOptions): ClosableLogger {
  const redactor = createRedactor(options.secrets);
  const file =
    options.directory === undefined
      ? undefined
      : createLogFile({
          directory: options.directory,
          maxBytes: options.maxFileBytes ?? 20_000_000,
          keep: options.keepFiles ?? 5,
        });
  const errorLevel = pino.levels.values['error'] ?? 50;
  const stream = {
    lastLevel: 0,
    [Symbol.for('pino.metadata')]: true,
    write(line: string): void {
      const safe = redactor.line(line);
      file?.write(safe);
      if (this.lastLevel >= errorLevel) file?.sync();
      options.also?.(safe);
    },
  };
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date(options.clock.nowMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return {
    ...wrap(root, redactor),
    redactor,
    register: (secret) => {
      redactor.register(secret);
    },
    flush: () => file?.sync(),
    close: () => file?.close(),
  };
}

function wrap(target: pino.Logger, redactor: Redactor): Logger {
  const write = (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: LogFields): void => {
    if (!target.isLevelEnabled(level)) return;
    const clean = redactor.value(fields ?? {});
    target[level](typeof clean === 'object' && clean !== null ? clean : {}, redactor.text(message));
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    child: (fields) => {
      const clean = redactor.value(fields);
      return wrap(target.child(typeof clean === 'object' && clean !== null ? clean : {}), redactor);
    },
  };
}
