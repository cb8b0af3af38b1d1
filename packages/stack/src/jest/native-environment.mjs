// The environment in which Jest runs test files. All test files of a worker share one process and the modules that are
// loaded in it.

import { isDeepStrictEqual } from 'node:util';
import { findHiddenVariables } from '../test/needs-by-name.ts';
import { workerFixtures } from './worker-fixtures.cjs';

/** Unavailable servers, identified by the variable that would contain the address (src/test/run-tests.ts). */
const missing = (process.env.MILLRACE_MISSING ?? '').split(',').filter(Boolean);

/** For each file, jest-runner replaces `process.exit` with a function that prints a stack trace before it exits. */
const exitProcess = process.exit;

/** Recognizes the error that `testServers()` of test-e2e/testing throws if a test requests an unavailable server. */
const isAboutMissing = (error) => {
  const message = String(error?.message ?? error);
  return missing.some((variable) => message.includes(`${variable} is not set`));
};

/**
 * Runs tests in the realm of this process, which they share with the test files that run afterwards. A file fails if it
 * does not restore the process's state. A test is reported as skipped if it fails because its server is unavailable.
 */
export default class NativeEnvironment {
  global = globalThis;
  #testPath;
  #before;
  #visible;
  #lacksServer = false;
  #hasRun = false;

  constructor(_config, { testPath }) {
    this.#testPath = testPath;
  }

  async setup() {
    // Without this line, jest would translate stack traces with source maps, which is unnecessary because stripping
    // types changes no lines or columns.
    Error.prepareStackTrace = undefined;
    this.#before = processState();
    for (const variable of findHiddenVariables(this.#testPath)) delete process.env[variable];
    this.#visible = { ...process.env };
  }

  async teardown() {
    const { environment, directory, listeners, fixtures } = processState();
    const before = this.#before;
    const problems = [
      ...changedKeys(this.#visible, environment).map((name) => `the environment variable ${name}`),
      ...(fixtures > before.fixtures ? [] : addedListeners(before.listeners, listeners)).map(
        (name) => `a listener for the process's ${name} event`,
      ),
      ...(directory === before.directory ? [] : ['another working directory']),
    ];
    for (const name of Object.keys(environment)) if (!(name in before.environment)) delete process.env[name];
    Object.assign(process.env, before.environment);
    process.chdir(before.directory);
    process.exit = exitProcess;
    // If the file could not be loaded, an error thrown here would hide the reason.
    if (this.#hasRun && problems.length > 0)
      throw new Error(`This test file does not clean up after itself: ${problems.join(', ')}`);
  }

  /** Called after jest-circus has handled the event. */
  handleTestEvent(event, state) {
    if (event.name === 'hook_failure') {
      this.#lacksServer ||= isAboutMissing(event.error);
      // A setup that failed because a server is missing makes the teardown fail too, so ignore its error.
      if (this.#lacksServer && event.hook.type === 'afterAll') state.unhandledErrors.pop();
    }
    if (event.name === 'run_finish') this.#hasRun = true;
    if (event.name === 'test_done' && event.test.errors.some((errors) => [errors].flat().some(isAboutMissing))) {
      event.test.errors.length = 0;
      event.test.status = 'skip';
    }
  }

  getVmContext() {
    return null;
  }
}

const processState = () => ({
  environment: { ...process.env },
  directory: process.cwd(),
  listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
  // Compare the number of fixtures, because shared fixtures may listen for the process's exit, for example to end
  // Chromium.
  fixtures: workerFixtures().size,
});

/**
 * Only new listeners count as a leak. Existing ones can disappear while this file runs, because a program that an
 * earlier test file started may end.
 */
const addedListeners = (before, after) => Object.keys(after).filter((name) => after[name] > (before[name] ?? 0));

function changedKeys(before, after) {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => !isDeepStrictEqual(before[key], after[key]));
}
