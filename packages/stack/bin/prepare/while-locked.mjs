import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupProblem } from './setup-problem.mjs';

/** Runs `work` while no other command of the same clone runs its own: two installations at once break each other. */
export async function whileLocked(directory, progress, work) {
  const lock = join(directory, 'prepare.lock');
  for (let hasTold = false; !tryLock(directory, lock); hasTold = true) {
    if (!hasTold) progress.print('… Another command is preparing this clone; waiting for it');
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The lock appears with its content or not at all: a name is given to a file that is already written. */
function tryLock(directory, lock) {
  const own = `${lock}.${process.pid}`;
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(own, String(process.pid));
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) {
      throw new SetupProblem(`Nothing can be written to ${directory}. Use a clone that belongs to you.`);
    }
    if (error.code !== 'EEXIST') throw error;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** A lock whose process is gone was left behind by a crash. */
function isHeld(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
