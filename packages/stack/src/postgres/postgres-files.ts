import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { canWriteIn, type SystemUser } from '../process/unprivileged-user.ts';
import { SetupProblem } from '../setup-problem.ts';

export interface PostgresFiles {
  /** PostgreSQL's data directory. */
  data: string;
  /** Whom it runs as; undefined for this process's own user. */
  user: SystemUser | undefined;
}

/** Root's servers keep here what they cannot reach in root's home. */
const outside = '/var/lib/millrace';

/**
 * Where the files of a database cluster lie: in `directory`, or, when the user PostgreSQL runs as cannot get there (a
 * clone in root's home), below /var/lib/millrace with a note of that in `directory`.
 *
 * @param user see `unprivilegedUser`
 * @throws SetupProblem when the files belong to somebody else.
 */
export function postgresFiles(directory: string, user: SystemUser | undefined): PostgresFiles {
  mkdirSync(directory, { recursive: true });
  const inside = join(directory, 'data');
  if (user) {
    // Passing through is enough for them; what is inside stays closed by PostgreSQL's own rules.
    chmodSync(directory, 0o755);
    const noted = readNote(directory);
    if (noted) return existing(noted, user);
  }
  if (existsSync(inside)) return existing(inside, user);
  mkdirSync(inside, { mode: 0o700 });
  if (!user) return { data: inside, user };
  chownSync(inside, user.uid, user.gid);
  if (canWriteIn(inside, user)) return { data: inside, user };
  rmdirSync(inside);
  return { data: createOutside(directory, user), user };
}

/** Removes the files for good. */
export function removePostgresFiles(directory: string): void {
  const noted = readNote(directory);
  if (noted) rmSync(dirname(noted), { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
}

/** Files that are there keep their owner: PostgreSQL insists on it. */
function existing(data: string, user: SystemUser | undefined): PostgresFiles {
  const { uid, gid } = statSync(data);
  if (!user) {
    if (uid === process.getuid?.()) return { data, user };
    throw new SetupProblem(
      `The data in ${dirname(data)} belong to another user (${uid}). Run as that user or root, or set MILLRACE_DATA_DIR.`,
    );
  }
  const owner = uid === user.uid ? user : { name: String(uid), uid, gid };
  if (canWriteIn(data, owner)) return { data, user: owner };
  throw new SetupProblem(
    `The data in ${data} cannot be reached by their owner (${owner.name}). Set MILLRACE_DATA_DIR.`,
  );
}

function createOutside(directory: string, user: SystemUser): string {
  mkdirSync(outside, { recursive: true });
  chmodSync(outside, 0o755);
  const home = mkdtempSync(join(outside, 'postgres-'));
  chmodSync(home, 0o755);
  const data = join(home, 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, user.uid, user.gid);
  writeFileSync(noteFile(directory), data);
  writeFileSync(join(home, 'belongs-to'), directory);
  return data;
}

const noteFile = (directory: string) => join(directory, 'data-is-in');

/** A directory that was moved keeps its data; a copy of it gets its own. */
function readNote(directory: string): string | null {
  if (!existsSync(noteFile(directory))) return null;
  const data = readFileSync(noteFile(directory), 'utf8').trim();
  if (!data.startsWith(`${outside}/`) || !existsSync(data)) return null;
  const mark = join(dirname(data), 'belongs-to');
  const home = readFileSync(mark, 'utf8');
  if (home !== directory) {
    if (existsSync(noteFile(home))) return null;
    writeFileSync(mark, directory);
  }
  return data;
}
