import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whoever brings an installation back, by the commands that the documents name. */
export interface Operator {
  /** `millrace restore finish`. */
  finishRestore(): Promise<{ seconds: number; lines: string[]; unread: number }>;
}

/**
 * @param program the compiled `millrace` command.
 * @param settings those of a consumer.
 */
export function createOperator(program: string, settings: Record<string, string>): Operator {
  return {
    async finishRestore() {
      const startedAt = performance.now();
      const { stdout } = await run(process.execPath, [program, '--json', 'restore', 'finish'], { env: settings });
      const topics = JSON.parse(stdout) as { topic: string; unread: number; deleted: number }[];
      return {
        seconds: (performance.now() - startedAt) / 1000,
        lines: topics.map(({ topic, unread, deleted }) => `${topic}: ${unread} to be read again, ${deleted} deleted`),
        unread: topics.reduce((sum, { unread }) => sum + unread, 0),
      };
    },
  };
}
