// How jest is started, on which versions of Node, what it will run and what it counted.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SetupProblem } from '../command.ts';
import { cacheDirectory, npmPackage } from '../fetched-programs.ts';
import { ownPlatform, readBaseLock } from '../image/base.ts';
import type { TestServerSet } from './test-servers.ts';

/** Of jest's own process; its workers inherit them, and programs that tests start do not. */
const nodeOptions = [
  ...['--import', new URL('../servers/end-with-parent.mjs', import.meta.url).href],
  ...['--import', new URL('../jest/strip-types.mjs', import.meta.url).href],
  // kafkajs passes negative delays, about which newer releases of Node.js warn. The services correct them
  // (packages/event-log, kafkajs-internals/request-queue-timer); some tests use kafkajs without that.
  ...['--disable-warning=ExperimentalWarning', '--disable-warning=TimeoutNegativeWarning'],
];
const runReporter = fileURLToPath(new URL('../jest/run-reporter.mjs', import.meta.url));

/** `quick` is what `npm test` runs, `long` what `npm run test:long` does: files named `*.long.test.ts`. */
export type Suite = 'quick' | 'long';

/** One run of jest over some or all tests of a suite. */
export interface JestRun {
  suite: Suite;
  /** Shown before it; empty for the first. */
  title: string;
  /** The path of the Node that runs it. */
  node: string;
  /** Random stories are told at length (`storySize` of test-e2e/testing). */
  isAtLength: boolean;
  jestArguments: readonly string[];
}

/**
 * Starts jest on the given servers; its output goes to the terminal as it is.
 * @param countsFile where the counts will be found, see `readCounts`; in the directory of this run, where tests keep what they share
 */
export function startJest(
  root: string,
  { addresses, missing }: TestServerSet,
  { countsFile, ...run }: JestRun & { countsFile: string },
): ChildProcess {
  const env: Record<string, string | undefined> = {
    ...environmentOf(run),
    ...addresses,
    MILLRACE_PARENT: String(process.pid),
    MILLRACE_TEST_COUNTS: countsFile,
    MILLRACE_TEST_DIRECTORY: dirname(countsFile),
    MILLRACE_MISSING: missing.join(','),
  };
  for (const variable of missing) delete env[variable];
  return spawn(
    run.node,
    [
      ...nodeOptions,
      // The config comes last: what follows a list of reporters would be taken for one more.
      ...[jestProgram(root), '--reporters=default', `--reporters=${runReporter}`],
      ...['-c', join(root, '.jest.config.mjs'), ...run.jestArguments],
    ],
    { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
  );
}

/**
 * The files a run will take, without running them.
 * @throws SetupProblem with jest's words when it does not understand the arguments.
 */
export async function listTests(root: string, run: JestRun): Promise<string[]> {
  const words = [jestProgram(root), '--listTests', '-c', join(root, '.jest.config.mjs'), ...run.jestArguments];
  const jest = spawn(process.execPath, words, {
    ...{ cwd: root, env: environmentOf(run), stdio: ['ignore', 'pipe', 'pipe'] },
  });
  const ended = new Promise((resolve) => jest.once('close', resolve));
  const [said, complained, status] = await Promise.all([text(jest.stdout), text(jest.stderr), ended]);
  if (status !== 0) throw new SetupProblem(`jest could not list its tests:\n${complained.trim() || said.trim()}`);
  return said.split('\n').filter((line) => line.endsWith('.test.ts'));
}

const jestProgram = (root: string) => createRequire(join(root, 'package.json')).resolve('jest/bin/jest');

function environmentOf({ suite, isAtLength }: JestRun): Record<string, string | undefined> {
  return {
    ...process.env,
    // Not ours to change before Node.js 20 goes, and not about the tests.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    MILLRACE_CACHE_DIR: cacheDirectory(),
    // Read by .jest.config.mjs.
    MILLRACE_TEST_SUITE: suite,
    MILLRACE_TESTS_AT_LENGTH: String(isAtLength),
  };
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface FailedFile extends Counts {
  path: string;
  /** The file, the name and the beginning of the error of each failed test. */
  failures: string[];
}

export interface TestCounts extends Counts {
  failedFiles: FailedFile[];
  /** Failures of files that passed when they ran again, see `withRerun`. */
  unstable?: string[];
}

/** What the reporter of a run of jest has written; as one failure when jest did not come to its end. */
export function readCounts(countsFile: string): TestCounts {
  try {
    return JSON.parse(readFileSync(countsFile, 'utf8')) as TestCounts;
  } catch {
    const counts = { passed: 0, failed: 1, skipped: 0 };
    return { failedFiles: [{ path: '', failures: ['jest exited early'], ...counts }], ...counts };
  }
}

export function sumOf(counts: readonly TestCounts[]): TestCounts {
  return {
    failedFiles: counts.flatMap(({ failedFiles }) => failedFiles),
    unstable: counts.flatMap(({ unstable = [] }) => unstable),
    ...sumOfCounts(counts),
  };
}

function sumOfCounts(counts: readonly Counts[]): Counts {
  const sum = (of: (one: Counts) => number) => counts.reduce((total, one) => total + of(one), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
  };
}

/** The counts of a run whose failed files ran again: for these files, the second result counts. */
export function withRerun(first: TestCounts, again: TestCounts): TestCounts {
  const before = sumOfCounts(first.failedFiles);
  const stillFailed = new Set(again.failedFiles.map(({ path }) => path));
  return {
    failedFiles: again.failedFiles,
    unstable: first.failedFiles.filter(({ path }) => !stillFailed.has(path)).flatMap(({ failures }) => failures),
    passed: first.passed - before.passed + again.passed,
    failed: first.failed - before.failed + again.failed,
    skipped: first.skipped - before.skipped + again.skipped,
  };
}

/**
 * Quick tests that the long suite runs again. Sampled ones (`*.sampled.test.ts`) get all of their cases, and those of code that a
 * new release of Node.js could break run on the release of the image: what reads library internals, and what works with sockets,
 * streams, compression, TLS, HTTP, JSON or text.
 */
const runsAgain =
  /\.sampled\.test\.ts$|-internals\/|^packages\/(?:contracts|http|runtime)\/|^services\/ingest-gateway\/src\/(?:body|json|large-bodies|readers|answer)\//;

/**
 * The run that was requested, on the Node.js that runs this. The complete long suite has a second run on the Node.js of the image, see
 * `runsAgain`. The programs themselves run on that Node.js in test-e2e/image.
 */
export async function jestRuns(root: string, suite: Suite, jestArguments: readonly string[]): Promise<JestRun[]> {
  const first: JestRun = { suite, title: '', node: process.execPath, isAtLength: suite === 'long', jestArguments };
  if (suite === 'quick' || jestArguments.length > 0 || process.platform !== 'linux') return [first];
  const { node } = (await readBaseLock(root))[ownPlatform().architecture];
  const quick = await listTests(root, { ...first, suite: 'quick' });
  const again = quick.filter((file) => runsAgain.test(relative(root, file)));
  return [
    first,
    {
      suite: 'quick',
      title: `Sampled tests with all their cases, and tests that depend on Node.js, on Node.js ${node.version} as in the image`,
      node: join(await npmPackage(node), 'bin/node'),
      isAtLength: true,
      jestArguments: ['--runTestsByPath', ...again],
    },
  ];
}
