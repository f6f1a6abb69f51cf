import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Whoever answers the questions: a person at a terminal, or nobody. */
export interface Asker {
  /** Nobody answers: presets are taken, nothing waits. */
  readonly isSilent: boolean;
  /** The answer without blanks around it; the preset when nothing is typed. */
  ask(question: string, preset?: string): Promise<string>;
  /** As `ask`, without showing what is typed. */
  askSecret(question: string): Promise<string>;
  close(): void;
}

/** The person broke off (Ctrl-C, end of input). */
export class BrokenOffError extends Error {
  override readonly name = 'BrokenOffError';
}

export const nobody: Asker = {
  isSilent: true,
  ask: (_question, preset) => Promise.resolve(preset ?? ''),
  askSecret: () => Promise.resolve(''),
  close: () => undefined,
};

export function createTerminalAsker(): Asker {
  let isMuted = false;
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isMuted) process.stdout.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  const broken = new AbortController();
  const breakOff = (): void => broken.abort();
  reader.on('SIGINT', breakOff);
  reader.on('close', breakOff);
  const question = async (text: string): Promise<string> => {
    try {
      return (await reader.question(text, { signal: broken.signal })).trim();
    } catch (error) {
      throw new BrokenOffError('broken off', { cause: error });
    }
  };
  return {
    isSilent: false,
    ask: async (text, preset) => {
      const answer = await question(preset === undefined ? `${text}: ` : `${text} [${preset}]: `);
      return answer === '' ? (preset ?? '') : answer;
    },
    askSecret: async (text) => {
      process.stdout.write(`${text}: `);
      isMuted = true;
      try {
        return await question('');
      } finally {
        isMuted = false;
        process.stdout.write('\n');
      }
    },
    close: () => {
      reader.off('close', breakOff);
      reader.close();
    },
  };
}
