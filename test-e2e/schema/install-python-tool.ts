import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testCacheDirectory } from '@millrace/testing';

const run = promisify(execFile);

/**
 * A virtual environment for exactly these requirements, made once per user.
 * @returns the path of its interpreter. @throws Error with the end of what the tool said, e.g. when Python is missing.
 */
export async function installPythonTool(name: string, requirements: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const cache = join(testCacheDirectory(), name);
  const installed = join(cache, digest.slice(0, 16));
  const python = (directory: string) => join(directory, 'bin/python');
  if (existsSync(python(installed))) return python(installed);
  await mkdir(cache, { recursive: true });
  const draft = `${installed}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  const options = { timeout: 300_000, maxBuffer: 64 << 20 };
  await run('python3', ['-m', 'venv', draft], options);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  await run(python(draft), install, options);
  // Only the scripts of an environment know where it is; its interpreter is started by path.
  await rename(draft, installed);
  return python(installed);
}
