import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@millrace/testing';
import type { Connection } from '../start/connection-file.ts';

const command = fileURLToPath(new URL('../../bin/start.mjs', import.meta.url));

export interface StartCommand {
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or with null after a signal. */
  ended: Promise<number | null>;
  output(): string;
  ready(): Promise<Connection>;
}

export function runStartCommand(
  directory: string,
  env: Record<string, string> = {},
  { options = [], node = process.execPath }: { options?: readonly string[]; node?: string } = {},
): StartCommand {
  const child = spawn(node, [command, ...options], {
    // Do not pass the test runner's Node.js options and variables.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env, MILLRACE_DATA_DIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let hasEnded = false;
  const ended = once(child, 'exit').then(([code]) => {
    hasEnded = true;
    return code as number | null;
  });
  return {
    kill: (signal) => void child.kill(signal),
    ended,
    output: () => output,
    async ready() {
      const isReady = () => {
        if (hasEnded) throw new Error(`npm start exited before it was ready:\n${output}`);
        return output.includes('Press Ctrl-C to stop Millrace') && existsSync(join(directory, 'connection.json'));
      };
      await eventually(isReady, { what: 'readiness of npm start', timeoutMs: 150_000 });
      return JSON.parse(readFileSync(join(directory, 'connection.json'), 'utf8')) as Connection;
    },
  };
}
