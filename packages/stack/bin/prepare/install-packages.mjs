import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withHomeDirectory } from './home-directory.mjs';
import { runQuietly } from './run-quietly.mjs';
import { SetupProblem } from './setup-problem.mjs';
import { createStamp } from './stamp.mjs';

const neededBytes = 2_000_000_000;
const unreachable =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|META_FETCH_FAIL|SELF_SIGNED_CERT\w*|UNABLE_TO_\w*CERT\w*/;
/** npm's own patience, a minute and more, is for machines that nobody waits at. */
const patience = { npm_config_fetch_retry_mintimeout: '2000', npm_config_fetch_retry_maxtimeout: '10000' };

/** Installs exactly what the lockfile says, with the pnpm that package.json names, unless that has been done. */
export function packageInstallation(root) {
  const stamp = createStamp(
    join(root, 'node_modules/.millrace-installed-from'),
    [join(root, 'pnpm-lock.yaml'), join(root, 'pnpm-workspace.yaml'), join(root, 'package.json')],
    [process.platform, process.arch],
  );
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    isDone: () => stamp.isCurrent(),
    run: (progress) =>
      progress.step(`Installing packages with ${packageManager.replace('@', ' ')}`, async (tell) => {
        checkDisk(root);
        const { status, output } = await install(root, packageManager, tell);
        if (status !== 0) throw new SetupProblem(explain(status, output));
        stamp.write();
      }),
  };
}

function install(root, packageManager, tell) {
  return withHomeDirectory((env) => {
    // What `npm --silent test` hands down would silence the reason of a failure.
    for (const name of ['npm_config_loglevel', 'npm_config_silent', 'NODE_OPTIONS']) delete env[name];
    return runQuietly(findNpx(), ['--yes', packageManager, 'install', '--frozen-lockfile', '--reporter=append-only'], {
      cwd: root,
      // pnpm must not ask questions.
      env: { ...patience, ...env, CI: 'true' },
      onLine: (line) => {
        const counts = /^Progress: .*?downloaded (\d+), added (\d+)/.exec(line);
        if (counts) tell(`${counts[2]} packages, ${counts[1]} downloaded`);
      },
    });
  });
}

/** npx of this very Node.js first: another one on the PATH may belong to an older Node.js. */
function findNpx() {
  const beside = join(dirname(process.execPath), 'npx');
  return existsSync(beside) ? beside : 'npx';
}

function explain(status, output) {
  const said = output.split('\n').filter((line) => !/^(npm warn|npm notice|Progress:|Scope:|\s*$)/.test(line));
  const end = said.slice(-10).join('\n');
  if (status === 127) return 'npx was not found. It comes with npm; install Node.js together with npm.';
  if (/ENOSPC/.test(output)) return 'The disk is full; the packages could not be installed.';
  if (/EACCES|EPERM|EROFS/.test(output)) return `The packages could not be written here:\n${end}`;
  const [reason] = unreachable.exec(output) ?? [];
  if (reason) {
    return `The npm registry cannot be reached (${reason}), and packages are missing. See to the network, or to npm's registry and proxy settings.`;
  }
  return `The packages could not be installed:\n${end}`;
}

function checkDisk(root) {
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  if (free >= neededBytes) return;
  const gigabytes = (bytes) => (bytes / 1e9).toFixed(1);
  throw new SetupProblem(
    `${gigabytes(neededBytes)} GB of disk are needed for the packages, ${gigabytes(free)} GB are free in ${root}.`,
  );
}
