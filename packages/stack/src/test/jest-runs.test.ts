import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../process/run-program.ts';
import { jestRuns, testsForImageNode } from './jest-runs.ts';
import { readCounts, sumOf } from './test-counts.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

test.each([
  ['outside CI', [], false],
  ['when only a part is asked for', ['packages/flags'], true],
])('%s there is one run, on this Node', async (_, jestArguments, isCi) => {
  expect(await jestRuns(root, jestArguments, isCi)).toEqual([{ title: '', node: process.execPath, jestArguments }]);
});

(process.platform === 'linux' ? test : test.skip)('CI has a second run, on a Node with long-term support', async () => {
  const [, second] = await jestRuns(root, [], true);
  expect(await runProgram(String(second?.node), ['-p', 'process.release.lts'])).toEqual({
    status: 0,
    output: expect.stringMatching(/^[A-Z]\w+\n$/),
  });
  expect(second?.jestArguments.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(testsForImageNode).toContain('services/ingest-gateway/src/scan/');
});

test('the closing line counts all runs, and one that broke off as a failure', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-counts-'));
  const whole = join(directory, 'whole.json');
  await writeFile(whole, JSON.stringify({ passed: 5, failed: 0, skipped: 2 }));
  expect(sumOf([readCounts(whole), readCounts(whole)])).toEqual({ passed: 10, failed: 0, skipped: 4 });
  expect(sumOf([readCounts(whole), readCounts(join(directory, 'none.json'))])).toEqual({
    ...{ passed: 5, failed: 1, skipped: 2 },
  });
  await rm(directory, { recursive: true });
});
