import { spawn, spawnSync } from 'node:child_process';
import { SetupProblem } from './command.ts';

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

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Whom PostgreSQL runs as: it refuses to run as root. Undefined when this process is not root, and needs nobody else.
 * @throws SetupProblem when this process is root and may not become anybody else.
 */
export function unprivilegedUser(): SystemUser | undefined {
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
  // macOS shows the id of `nobody`, which is -2, as 4294967294, and no process can be started with that.
  return uid !== null && gid !== null && uid > 0 && uid < 2 ** 31 ? { name, uid, gid } : null;
}

function ask(option: string, name: string): number | null {
  const { status, stdout } = spawnSync('id', [option, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout.trim()) : null;
}

function canBecome({ uid, gid }: SystemUser): boolean {
  return spawnSync('sh', ['-c', ':'], { uid, gid, cwd: '/' }).status === 0;
}

/** True when the user (or this process, when there is none) can create files in the directory. */
export function canWriteIn(directory: string, user: SystemUser | undefined): boolean {
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  return spawnSync('sh', ['-c', 'cd "$1" && [ -w . ]', 'sh', directory], { cwd: '/', ...identity }).status === 0;
}
