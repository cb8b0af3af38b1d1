// Starts jest with the selected tests and the selected Node.js, and counts the tests that passed.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SetupProblem } from '../command.ts';
import { ensureNpmPackage, findCacheDirectory } from '../fetched-programs.ts';
import { detectPlatform, readBaseLock } from '../image/base.ts';
import type { TestServerSet } from './test-servers.ts';

/** Node.js options for jest and its workers. Programs that tests start do not inherit these options. */
const nodeOptions = [
  '--import',
  new URL('../servers/end-with-parent.mjs', import.meta.url).href,
  '--import',
  new URL('../jest/strip-types.mjs', import.meta.url).href,
  // kafkajs passes negative delays to timers, about which newer releases of Node.js print a warning. The services fix
  // this (packages/event-log, kafkajs-internals/request-queue-timer), but some tests use kafkajs directly.
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=TimeoutNegativeWarning',
];
const runReporter = fileURLToPath(new URL('../jest/run-reporter.mjs', import.meta.url));

/** `npm test` runs `quick`, and `npm run test:long` runs `long`, which are the files named `*.long.test.ts`. */
export type Suite = 'quick' | 'long';

export interface JestRun {
  suite: Suite;
  /** A title to print before the run, or an empty string for the first run. */
  title: string;
  node: string;
  /** Whether tests with random cases run all of their cases (`storySize` of test-e2e/testing). */
  isAtLength: boolean;
  jestArguments: readonly string[];
}

/**
 * Starts jest with the given servers. Its output is written to the terminal.
 * @param countsFile the file for the counts (see `readCounts`). Tests also store shared files in its directory.
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
      // The config must be the last argument, because each word after `--reporters` is treated as a reporter.
      jestProgram(root),
      '--reporters=default',
      `--reporters=${runReporter}`,
      '-c',
      join(root, '.jest.config.mjs'),
      ...run.jestArguments,
    ],
    { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
  );
}

/**
 * Returns the test files of a run without running them.
 * @throws SetupProblem with jest's output if the arguments are invalid
 */
export async function listTests(root: string, run: JestRun): Promise<string[]> {
  const words = [jestProgram(root), '--listTests', '-c', join(root, '.jest.config.mjs'), ...run.jestArguments];
  const jest = spawn(process.execPath, words, {
    cwd: root,
    env: environmentOf(run),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => jest.once('close', resolve));
  const [out, errors, status] = await Promise.all([text(jest.stdout), text(jest.stderr), ended]);
  if (status !== 0) throw new SetupProblem(`jest could not list its tests:\n${errors.trim() || out.trim()}`);
  return out.split('\n').filter((line) => line.endsWith('.test.ts'));
}

const jestProgram = (root: string) => createRequire(join(root, 'package.json')).resolve('jest/bin/jest');

function environmentOf({ suite, isAtLength }: JestRun): Record<string, string | undefined> {
  return {
    ...process.env,
    // Disable the AWS SDK's warning about Node.js 20, which Millrace supports.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    MILLRACE_CACHE_DIR: findCacheDirectory(),
    // .jest.config.mjs reads this variable.
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
  /** The file and name of each failed test, and the beginning of its error. */
  failures: string[];
}

export interface TestCounts extends Counts {
  failedFiles: FailedFile[];
  /** Failures in files that passed when they were run again (see `withRerun`). */
  unstable?: string[];
}

/** Reads the counts of a run. If jest ended early, returns one failure. */
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

/**
 * Combines the counts of a run with those of its failed files, which ran again. For these, the second result counts.
 */
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
 * Quick tests that the long suite runs again. Sampled tests (`*.sampled.test.ts`) run with all of their cases. Tests of
 * code that a new release of Node.js could break run with the image's Node.js. This includes code that uses library
 * internals, sockets, streams, compression, TLS, HTTP, JSON or text encodings.
 */
const runsAgain =
  /\.sampled\.test\.ts$|-internals\/|^packages\/(?:contracts|http|runtime)\/|^services\/ingest-gateway\/src\/(?:body|json|large-bodies|response)\//;

/**
 * Returns the requested run with the current Node.js. If the complete long suite is requested, adds a second run with
 * the image's Node.js (see `runsAgain`). test-e2e/image runs the programs themselves with that Node.js.
 */
export async function jestRuns(root: string, suite: Suite, jestArguments: readonly string[]): Promise<JestRun[]> {
  const first: JestRun = { suite, title: '', node: process.execPath, isAtLength: suite === 'long', jestArguments };
  if (suite === 'quick' || jestArguments.length > 0 || process.platform !== 'linux') return [first];
  const { node } = (await readBaseLock(root))[detectPlatform().architecture];
  const quick = await listTests(root, { ...first, suite: 'quick' });
  const again = quick.filter((file) => runsAgain.test(relative(root, file)));
  return [
    first,
    {
      suite: 'quick',
      title: `Sampled tests with all their cases, and tests that depend on Node.js, on Node.js ${node.version} as in the image`,
      node: join(await ensureNpmPackage(node), 'bin/node'),
      isAtLength: true,
      jestArguments: ['--runTestsByPath', ...again],
    },
  ];
}
