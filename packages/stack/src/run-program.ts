// Runs other programs, and chooses the user that runs them.

import { spawn, spawnSync } from 'node:child_process';
import { SetupProblem } from './command.ts';

export interface ProgramResult {
  /** The exit code, or 127 if the program does not exist. */
  status: number;
  /** The last characters that the program wrote to stdout and stderr. */
  output: string;
}

export interface ProgramOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  uid?: number;
  gid?: number;
  timeoutMs?: number;
}

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

export async function hasProgram(name: string): Promise<boolean> {
  return (await runProgram('sh', ['-c', 'command -v "$1"', 'sh', name])).status === 0;
}

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Returns the user who runs PostgreSQL, which refuses to run as root. Returns undefined if this process is not root.
 * @throws SetupProblem if this process is root but cannot switch to a different user
 */
export function findUnprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const user = lookUp(name);
    if (user && canBecome(user)) return user;
  }
  throw new SetupProblem(
    'PostgreSQL cannot run as root, and this process cannot switch to the user `postgres` or `nobody`. Run the command as a regular user.',
  );
}

function lookUp(name: string): SystemUser | null {
  const uid = ask('-u', name);
  const gid = ask('-g', name);
  // macOS reports the ID of the user `nobody`, which is -2, as 4294967294. The system cannot start a process with this ID.
  return uid !== null && gid !== null && uid > 0 && uid < 2 ** 31 ? { name, uid, gid } : null;
}

function ask(option: string, name: string): number | null {
  const { status, stdout } = spawnSync('id', [option, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout.trim()) : null;
}

function canBecome({ uid, gid }: SystemUser): boolean {
  return spawnSync('sh', ['-c', ':'], { uid, gid, cwd: '/' }).status === 0;
}

/** Returns true if the user can create files in the directory. Without `user`, checks the user of this process. */
export function canWriteIn(directory: string, user: SystemUser | undefined): boolean {
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  return spawnSync('sh', ['-c', 'cd "$1" && [ -w . ]', 'sh', directory], { cwd: '/', ...identity }).status === 0;
}
