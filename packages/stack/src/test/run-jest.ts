import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../process/cache-directory.ts';
import type { JestRun } from './jest-runs.ts';
import type { TestServerSet } from './provide-test-servers.ts';

const endWithParent = new URL('../process/end-with-parent.mjs', import.meta.url).href;
const countReporter = fileURLToPath(new URL('../jest/count-reporter.mjs', import.meta.url));
const skipWithoutServer = fileURLToPath(new URL('../jest/skip-without-server.mjs', import.meta.url));

/**
 * Starts jest on the given servers; its output goes to the terminal as it is.
 * @param countsFile where the counts will be found, see test-counts.ts; in the directory of this run, where tests keep what they share
 */
export function startJest(
  root: string,
  { addresses, missing }: TestServerSet,
  { node, jestArguments, countsFile }: JestRun & { countsFile: string },
): ChildProcess {
  const jest = createRequire(join(root, 'package.json')).resolve('jest/bin/jest');
  const env: Record<string, string | undefined> = {
    ...process.env,
    ...addresses,
    // The second warning is kafkajs's, on newer Nodes, where a test uses it as it is; services do not
    // (packages/event-log, kafkajs-internals/request-queue-timer).
    NODE_OPTIONS: [
      ...[process.env.NODE_OPTIONS ?? '', '--experimental-vm-modules'],
      ...['--disable-warning=ExperimentalWarning', '--disable-warning=TimeoutNegativeWarning'],
    ]
      .join(' ')
      .trim(),
    // Not ours to change before Node.js 20 goes, and not about the tests.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    MILLRACE_CACHE_DIR: cacheDirectory(),
    MILLRACE_PARENT: String(process.pid),
    MILLRACE_TEST_COUNTS: countsFile,
    MILLRACE_TEST_DIRECTORY: dirname(countsFile),
    MILLRACE_MISSING: missing.join(','),
  };
  for (const variable of missing) delete env[variable];
  return spawn(
    node,
    [
      // The config comes last: what follows a list of reporters would be taken for one more.
      ...['--import', endWithParent, jest, '--reporters=default', `--reporters=${countReporter}`],
      ...(missing.length > 0 ? [`--env=${skipWithoutServer}`] : []),
      ...['-c', join(root, '.jest.config.mjs'), ...jestArguments],
    ],
    { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
  );
}
