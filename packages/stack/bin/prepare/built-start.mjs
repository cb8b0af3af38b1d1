import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listFilesBelow } from './files-below.mjs';
import { createStamp, runQuietly, setupLog, setupProblem } from './prepare.mjs';

/**
 * Builds the program of `npm start` as plain JavaScript into the data directory, if one of its sources has changed.
 * Plain JavaScript saves memory, because a compiler in the running process needs more memory than all services
 * together.
 * @returns {Promise<string>} the URL of the program
 */
export async function builtStart({ root, progress }) {
  const directory = resolve(process.env.MILLRACE_DATA_DIR || join(root, '.millrace'));
  const build = join(directory, 'build');
  const program = join(build, 'start.mjs');
  const sources = [join(root, 'pnpm-lock.yaml'), ...['packages', 'services'].flatMap((name) => sourcesIn(root, name))];
  const stamp = createStamp(join(build, '.made-from'), sources, sources);
  // While a system is running, do not replace the build, because the system may still load files from it. This start
  // will fail at the lock.
  const isInUse = existsSync(program) && isAlive(join(directory, 'start.lock'));
  if (!isInUse && !(existsSync(program) && stamp.isCurrent())) {
    const logFile = setupLog(root);
    const buildServices = async () => {
      const run = fileURLToPath(new URL('../run.mjs', import.meta.url));
      const builder = join(root, 'packages/stack/src/start/build.ts');
      const { status, output } = await runQuietly(process.execPath, [run, builder, build], { cwd: root, logFile });
      if (status !== 0) throw setupProblem(`Could not build the services.\n${output.trim()}`);
      stamp.write();
    };
    await progress.step('Building the services', buildServices, { log: logFile });
  }
  return pathToFileURL(program).href;
}

function sourcesIn(root, name) {
  return listFilesBelow(join(root, name))
    .filter(({ path, isLink }) => !isLink && /\.(tsx?|mjs|js|css|svg|html|json)$/.test(path))
    .map(({ path }) => path)
    .filter((path) => !/\/dist\/|\/tests?\/|\/testing\/|\.test\.ts$/.test(path.slice(root.length)));
}

function isAlive(lock) {
  try {
    process.kill(JSON.parse(readFileSync(lock, 'utf8')).pid, 0);
    return true;
  } catch {
    return false;
  }
}
