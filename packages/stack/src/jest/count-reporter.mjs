import { writeFileSync } from 'node:fs';

/** Writes how many tests passed, failed and were skipped to the file that `npm test` names. */
export default class CountReporter {
  /** @param {object} results what jest counted, over all files */
  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      // A file that could not even be loaded holds an unknown number of tests: it counts as one that failed.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    writeFileSync(process.env.MILLRACE_TEST_COUNTS, JSON.stringify(counts));
  }
}
