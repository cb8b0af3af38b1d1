import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * Runs `work` with an environment whose home directory can be written to: npm and pnpm keep their caches there. Where
 * HOME is empty, missing or read-only they get one for the time being.
 *
 * @template T
 * @param {(env: Record<string, string | undefined>) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withHomeDirectory(work) {
  const home = process.env.HOME || passwordFileHome();
  if (home && isWritable(home)) return work({ ...process.env, HOME: home });
  const temporary = mkdtempSync(join(tmpdir(), 'millrace-home-'));
  const env = { ...process.env, HOME: temporary };
  for (const name of ['XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'npm_config_cache']) {
    delete env[name];
  }
  try {
    return await work(env);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function passwordFileHome() {
  try {
    return userInfo().homedir;
  } catch {
    // A user id without an entry, as containers like to have.
    return '';
  }
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
