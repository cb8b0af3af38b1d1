import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';
import { jestRuns, readCounts, sumOf, withRerun } from './jest.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

test.each([
  ['all quick tests', 'quick', []],
  ['some of the long tests', 'long', ['packages/flags']],
] as const)('plans a single run with the current Node.js for %s', async (_, suite, jestArguments) => {
  expect(await jestRuns(root, suite, jestArguments)).toEqual([
    { suite, title: '', node: process.execPath, isAtLength: suite === 'long', jestArguments },
  ]);
});

(process.platform === 'linux' ? test : test.skip)(
  'all long tests have a second run with the newest supported Node.js',
  async () => {
    const [, second] = await jestRuns(root, 'long', []);
    expect(second).toMatchObject({ suite: 'quick', isAtLength: true });
    expect(await runProgram(String(second?.node), ['-p', 'process.versions.node'])).toEqual({
      status: 0,
      output: expect.stringMatching(/^26\.\d+\.\d+\n$/),
    });
    const again = second?.jestArguments.map((path) => relative(root, path)) ?? [];
    // Tests run again for three reasons: random cases, library internals, and sampled cases. One file is expected for
    // each reason.
    expect(again).toEqual(
      expect.arrayContaining([
        'services/event-consumer/src/process-event.properties.sampled.test.ts',
        'packages/event-log/src/kafka/kafkajs-internals/record-batch.test.ts',
        'packages/console/tests/every-page.chromium.sampled.test.ts',
      ]),
    );
    expect(again).not.toContain('test-e2e/fallback.kafka.test.ts');
  },
);

describe('counts of a test run', () => {
  test('counts a run that ended early as one failed test', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-counts-'));
    const whole = join(directory, 'whole.json');
    await writeFile(whole, JSON.stringify({ failedFiles: [], passed: 5, failed: 0, skipped: 2 }));
    expect(sumOf([readCounts(whole), readCounts(whole)])).toMatchObject({
      failedFiles: [],
      ...{ passed: 10, failed: 0, skipped: 4 },
    });
    expect(sumOf([readCounts(whole), readCounts(join(directory, 'none.json'))])).toMatchObject({
      failedFiles: [{ failures: ['jest exited early'] }],
      ...{ passed: 5, failed: 1, skipped: 2 },
    });
    await rm(directory, { recursive: true });
  });

  test('uses the second result of files that ran again, and lists tests that then passed as unstable', () => {
    const firstTime = { path: 'a.test.ts', failures: ['a.test.ts: adds'], passed: 3, failed: 1, skipped: 0 };
    const bothTimes = { path: 'b.test.ts', failures: ['b.test.ts: divides'], passed: 0, failed: 2, skipped: 1 };
    const first = { failedFiles: [firstTime, bothTimes], passed: 100, failed: 3, skipped: 1 };
    const again = { failedFiles: [{ ...bothTimes, passed: 1, failed: 1 }], passed: 5, failed: 1, skipped: 1 };

    expect(withRerun(first, again)).toEqual({
      failedFiles: again.failedFiles,
      unstable: ['a.test.ts: adds'],
      ...{ passed: 102, failed: 1, skipped: 1 },
    });
  });
});
