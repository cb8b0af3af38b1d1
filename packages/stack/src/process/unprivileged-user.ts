import { spawnSync } from 'node:child_process';
import { SetupProblem } from '../setup-problem.ts';

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
    'PostgreSQL does not run as root, and this process may not become the user `postgres` or `nobody`. Run as an ordinary user.',
  );
}

function lookUp(name: string): SystemUser | null {
  const uid = ask('-u', name);
  const gid = ask('-g', name);
  return uid !== null && gid !== null && uid > 0 ? { name, uid, gid } : null;
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
