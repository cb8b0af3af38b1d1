import { TestEnvironment } from 'jest-environment-node';

/** The servers that are not available, by the variables their addresses would be in (src/test/run-tests.ts). */
const missing = (process.env.MILLRACE_MISSING ?? '').split(',').filter(Boolean);

/** What `testServers()` of test-e2e/testing says when a test asks for the address. */
const isAboutMissing = (error) => {
  const message = String(error?.message ?? error);
  return missing.some((variable) => message.includes(`${variable} is not set`));
};

/**
 * Used only when a server is not available: a test that fails because it asked for that server is reported as skipped.
 * Tests that never ask for it run as ever.
 */
export default class SkipWithoutServer extends TestEnvironment {
  lacksServer = false;

  /** Called after the runner has noted the event itself. */
  handleTestEvent(event, state) {
    if (event.name === 'hook_failure') {
      this.lacksServer ||= isAboutMissing(event.error);
      // What could not be set up cannot be torn down either.
      if (this.lacksServer && event.hook.type === 'afterAll') state.unhandledErrors.pop();
    }
    if (event.name === 'test_done' && event.test.errors.some((errors) => [errors].flat().some(isAboutMissing))) {
      event.test.errors.length = 0;
      event.test.status = 'skip';
    }
  }
}
