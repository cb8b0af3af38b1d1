import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { stopWorkerFixtures } from './worker-fixtures.cjs';

const listed = 30;

/**
 * Writes the counts and the names of failed tests to the file that `npm test` chooses, and prints the slowest files.
 */
export default class RunReporter {
  #rootDirectory;

  constructor({ rootDir }) {
    this.#rootDirectory = rootDir;
  }

  async onRunComplete(_contexts, results) {
    // End fixtures here too, because a single test file runs in this process and not in a worker.
    await stopWorkerFixtures();
    const counts = {
      failedFiles: results.testResults.flatMap((file) => {
        const path = relative(this.#rootDirectory, file.testFilePath);
        const failures = failuresOf(path, file);
        return failures.length === 0 ? [] : [{ path, failures, ...countsOf(file) }];
      }),
      passed: results.numPassedTests,
      // The number of tests in a file that could not be loaded is unknown, so the file counts as one failure.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    writeFileSync(process.env.MILLRACE_TEST_COUNTS, JSON.stringify(counts));
    if (results.testResults.length >= listed) this.#printSlowest(results.testResults);
  }

  #printSlowest(files) {
    const times = files.map(({ testFilePath, perfStats: { start, end }, testResults }) => ({
      path: relative(this.#rootDirectory, testFilePath),
      total: (end - start) / 1000,
      tests: testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0) / 1000,
    }));
    const sum = (key) => times.reduce((total, one) => total + one[key], 0);
    const setup = Math.round((1 - sum('tests') / sum('total')) * 100);
    const slowest = times.sort((a, b) => b.total - a.total).slice(0, listed);
    console.log(`\nThe ${listed} slowest files, in seconds (in parentheses: loading and setup outside of tests)`);
    for (const { path, total, tests } of slowest) {
      console.log(`${total.toFixed(1).padStart(7)} (${Math.max(0, total - tests).toFixed(1)}) ${path}`);
    }
    console.log(`All ${times.length} files: ${Math.round(sum('total'))} s (${setup} % loading and setup)`);
  }
}

const countsOf = ({ testExecError, numPassingTests, numFailingTests, numPendingTests, numTodoTests }) => ({
  passed: numPassingTests,
  failed: numFailingTests + (testExecError ? 1 : 0),
  skipped: numPendingTests + numTodoTests,
});

function failuresOf(path, { testExecError, testResults }) {
  const failed = testResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => `${path}: ${fullName}: ${beginning(failureMessages[0] ?? '')}`);
  return testExecError ? [...failed, `${path}: ${beginning(testExecError.message ?? testExecError)}`] : failed;
}

/** Returns the beginning of an error message as one line, without colors. */
function beginning(message) {
  const lines = stripVTControlCharacters(String(message)).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 3)
    .join(' ')
    .slice(0, 300);
}
