import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@millrace/stack/src/process/cache-directory.ts';

/** The last one for Node 20 and, as it happens, under the Apache licence. Only this benchmark runs it, as a program. */
export const unleashVersion = '7.5.1';

const run = promisify(execFile);
const timeLimitMs = 300_000;

/**
 * Gets Unleash from npm into the user's cache, once: it is 200 MB, which nobody else shall have to install.
 * @returns the file to start it by. @throws Error with what npm said.
 */
export async function installUnleash(): Promise<string> {
  const installed = join(cacheDirectory(), `unleash-server-${unleashVersion}`);
  const entry = join(installed, 'node_modules/unleash-server/dist/lib/server-impl.js');
  if (existsSync(entry)) return entry;
  const draft = `${installed}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  try {
    await writeFile(join(draft, 'package.json'), '{"private":true}');
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...options, `unleash-server@${unleashVersion}`], { cwd: draft, timeout: timeLimitMs });
    await rename(draft, installed);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return entry;
}
