import { once } from 'node:events';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { dataDirectory } from '../data-directory.ts';
import { createReaper } from '../process/reaper.ts';
import { provideTestServers } from './provide-test-servers.ts';
import { readCounts, startJest, type TestCounts } from './run-jest.ts';
import { createTestRunDirectory, removeDeadTestRuns, removeTestRunDirectory } from './test-run-directory.ts';

/**
 * `npm test [-- jest's arguments]`: clears away what killed runs left, brings up the servers, runs jest, takes everything
 * down, and ends with one line that counts. In CI a skipped test is a failure.
 */
export const main: Command = async ({ progress, root, programArguments }) => {
  const runs = join(dataDirectory(root), 'test');
  const removed = await removeDeadTestRuns(runs);
  if (removed > 0) progress.print(`  Removed what ${removed} earlier run(s) left behind`);
  const directory = createTestRunDirectory(runs);
  const countsFile = join(directory, 'counts.json');
  const reaper = createReaper();
  const interruption = watchForInterruption();
  let counts: TestCounts | null = null;
  let exitCode = 1;
  try {
    const servers = await provideTestServers(directory, reaper, progress);
    try {
      if (!interruption.signal()) {
        const jest = startJest(root, servers, { countsFile, jestArguments: programArguments });
        interruption.passOnTo((signal) => jest.kill(signal));
        const [code] = (await once(jest, 'exit')) as [number | null];
        exitCode = code ?? 1;
        counts = readCounts(countsFile);
      }
    } finally {
      await servers.stop();
    }
  } finally {
    reaper.dismiss();
    await removeTestRunDirectory(directory);
  }
  if (interruption.signal()) return 130;
  return report(counts, exitCode);
};

/** Prints the closing line, alone on its line and last. @returns the exit code of the whole. */
function report(counts: TestCounts | null, jestExitCode: number): number {
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 1, skipped: 0 };
  const isSkipFatal = Boolean(process.env.CI) && skipped > 0;
  if (isSkipFatal) console.log('\nA skipped test is a failure in CI.');
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (jestExitCode !== 0) return jestExitCode;
  return failed > 0 || isSkipFatal ? 1 : 0;
}

/** A first signal ends jest, and then the rest in order; a second one ends this process, and the reaper does the rest. */
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
