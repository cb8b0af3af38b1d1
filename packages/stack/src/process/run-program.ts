import { spawn } from 'node:child_process';

export interface ProgramResult {
  /** 127 when there is no such program. */
  status: number;
  /** The end of what it said on both streams. */
  output: string;
}

export interface ProgramOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  uid?: number;
  gid?: number;
  timeoutMs?: number;
}

/** Runs a program to its end and keeps what it says. */
export function runProgram(
  command: string,
  programArguments: readonly string[],
  { timeoutMs, ...options }: ProgramOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(command, programArguments, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-1_000_000);
      });
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve({ status: error.code === 'ENOENT' ? 127 : 126, output: error.message });
    });
    child.once('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** True when the program is on the PATH. */
export async function hasProgram(name: string): Promise<boolean> {
  return (await runProgram('sh', ['-c', 'command -v "$1"', 'sh', name])).status === 0;
}
