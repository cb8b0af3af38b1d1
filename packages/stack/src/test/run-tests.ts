import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Progress } from '../command.ts';
import { changedPackages } from './changed-packages.ts';
import {
  type JestRun,
  jestRuns,
  listTests,
  readCounts,
  type Suite,
  startJest,
  sumOf,
  type TestCounts,
  withRerun,
} from './jest.ts';
import { findTestServerVariables } from './needs-by-name.ts';
import { type TestServerSet, withTestServers } from './test-servers.ts';

/**
 * `npm test [-- jest's arguments]` and `npm run test:long`, which passes `--long` before the arguments. Deletes files
 * of runs that were killed, starts the servers that the selected tests need, runs jest, stops everything, and prints
 * the counts in the last line. With `--changed`, runs only the tests of packages that a change may break. In CI, a
 * skipped test is a failure.
 */
export const main: Command = async ({ progress, root, programArguments }) => {
  const [suite, given]: [Suite, string[]] =
    programArguments[0] === '--long' ? ['long', programArguments.slice(1)] : ['quick', programArguments];
  const jestArguments = withChangedPackages(root, given);
  if (jestArguments === null) {
    progress.print('No package has changed.');
    return report([]);
  }
  const interruption = watchForInterruption();
  const outcomes: Outcome[] = [];
  const runs = await jestRuns(root, suite, jestArguments);
  const files = (await Promise.all(runs.map((run) => listTests(root, run)))).flat();
  if (files.length === 0) await suggestOtherSuite(root, runs[0] as JestRun, progress);
  await withTestServers(findTestServerVariables(files), { root, progress }, async (servers, directory) => {
    for (const [index, run] of runs.entries()) {
      if (interruption.signal()) break;
      if (run.title) progress.print(`\n${run.title}`);
      const countsFile = join(directory, `counts-${index}.json`);
      const ran = { ...run, countsFile, servers, interruption };
      const outcome = await runJest(root, ran);
      outcomes.push(files.length < manyFiles ? outcome : await rerunFailedFiles(root, ran, outcome));
    }
  });
  if (interruption.signal()) return 130;
  return report(outcomes);
};

/**
 * Replaces `--changed` or `--changed=<commit>` with the directories of packages that have changed since the given
 * commit, or since the last commit.
 * @returns null if no package has changed
 */
function withChangedPackages(root: string, words: string[]): string[] | null {
  const option = words.find((word) => /^--changed(?:=|$)/.test(word));
  if (option === undefined) return words;
  const folders = changedPackages(root, option.slice('--changed='.length) || 'HEAD');
  const others = words.filter((word) => word !== option);
  return folders.length === 0 ? null : [...others, ...folders.map((folder) => `${folder}/`)];
}

async function suggestOtherSuite(root: string, run: JestRun, progress: Progress): Promise<void> {
  const [other, command]: [Suite, string] =
    run.suite === 'quick' ? ['long', 'npm run test:long'] : ['quick', 'npm test'];
  const { length } = await listTests(root, { ...run, suite: other });
  if (length > 0)
    progress.print(
      `! No test files match. To run the ${length} matching files of the ${other} suite, use \`${command}\``,
    );
}

interface Outcome {
  counts: TestCounts;
  exitCode: number;
}

interface Running extends JestRun {
  countsFile: string;
  servers: TestServerSet;
  interruption: Interruption;
}

async function runJest(root: string, { servers, interruption, ...run }: Running): Promise<Outcome> {
  const jest = startJest(root, servers, run);
  interruption.passOnTo((signal) => jest.kill(signal));
  const [code] = (await once(jest, 'exit')) as [number | null];
  return { counts: readCounts(run.countsFile), exitCode: code ?? 1 };
}

/** If a run has at least this many files, it counts as a complete suite or package, which takes too long to repeat. */
const manyFiles = 50;
/** Maximum number of failed files to run again. More failures are assumed to have a common cause. */
const maxReruns = 3;

/**
 * Runs a few failed files again, one after another. If a test then passes, its result depends on the machine's load.
 * The test is listed at the end, but the run does not fail (docs/decisions/041-unstable-tests.md).
 */
async function rerunFailedFiles(root: string, run: Running, first: Outcome): Promise<Outcome> {
  const paths = first.counts.failedFiles.map(({ path }) => path);
  const canRun = paths.length > 0 && paths.length <= maxReruns && !paths.includes('');
  if (!canRun || run.interruption.signal()) return first;
  console.log(`\nRunning the failed files again: ${paths.join(', ')}`);
  const jestArguments = ['--maxWorkers=1', '--runTestsByPath', ...paths];
  const again = await runJest(root, { ...run, jestArguments, countsFile: `${run.countsFile}.again` });
  return { counts: withRerun(first.counts, again.counts), exitCode: again.exitCode };
}

/**
 * Prints the failed tests, and then the counts as the last line. If MILLRACE_CLOSING_LINE_FILE is set, writes both to
 * this file, counts first, because `.ci/run` adds the counts of two runs.
 * @returns the exit code
 */
function report(outcomes: readonly Outcome[]): number {
  const { failedFiles, unstable = [], passed, failed, skipped } = sumOf(outcomes.map(({ counts }) => counts));
  const isSkipFatal = Boolean(process.env.CI) && skipped > 0;
  if (isSkipFatal) console.log('\nIn CI, a skipped test fails the run.');
  const closingLine = `${passed} passed, ${failed} failed, ${skipped} skipped\n`;
  const failures = failedFiles.flatMap((file) => file.failures);
  const failedTests = [
    ...unstable.map((failure) => `Failed once, then passed: ${failure}\n`),
    ...failures.map((failure) => `Failed: ${failure}\n`),
  ].join('');
  const { MILLRACE_CLOSING_LINE_FILE: file } = process.env;
  if (file) writeFileSync(file, closingLine + failedTests);
  else process.stdout.write(`\n${failedTests}${closingLine}`);
  const failedRun = outcomes.find(({ exitCode }) => exitCode !== 0);
  if (failedRun) return failedRun.exitCode;
  return failed > 0 || isSkipFatal ? 1 : 0;
}

type Interruption = ReturnType<typeof watchForInterruption>;

/**
 * Watches for signals. The first one ends jest and then stops everything in order. A second one ends this process
 * immediately, and the reaper then ends the servers.
 */
function watchForInterruption() {
  let received: NodeJS.Signals | undefined;
  let passOn: ((signal: NodeJS.Signals) => void) | undefined;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (received) process.exit(130);
      received = name;
      passOn?.(name === 'SIGHUP' ? 'SIGTERM' : name);
    });
  }
  return {
    signal: () => received,
    passOnTo(receiver: (signal: NodeJS.Signals) => void) {
      passOn = receiver;
    },
  };
}
