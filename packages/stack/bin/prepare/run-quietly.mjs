import { spawn } from 'node:child_process';

/**
 * Runs a program and keeps the end of what it says.
 *
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, onLine?: (line: string) => void }} options
 * @returns {Promise<{ status: number, output: string }>} status 127 when there is no such program
 */
export function runQuietly(command, commandArguments, { cwd, env, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, commandArguments, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-20_000);
        for (const line of text.split('\n')) if (line.trim()) onLine?.(line.trim());
      });
    }
    child.once('error', (error) => resolve({ status: error.code === 'ENOENT' ? 127 : 126, output: error.message }));
    child.once('close', (status) => resolve({ status: status ?? 1, output }));
  });
}
