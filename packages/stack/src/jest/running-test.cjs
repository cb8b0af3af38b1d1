/**
 * Replaces the AsyncLocalStorage with which jest-circus finds the test that an unhandled error belongs to. jest-circus is
 * loaded anew for each file, and before Node.js 24, each promise copies every AsyncLocalStorage that the process ever
 * used: after 200 files, promises take 80 times as long.
 */
class RunningTest {
  #contexts = new Set();

  /** Runs a test or hook. A hook can run within a test. */
  async run(context, callback) {
    this.#contexts.add(context);
    try {
      return await callback();
    } finally {
      this.#contexts.delete(context);
    }
  }

  /**
   * Returns the context that began last. While several tests run concurrently, returns undefined: an unhandled error then
   * fails the file.
   */
  getStore() {
    const contexts = [...this.#contexts];
    const last = contexts.at(-1);
    return contexts.every(({ test }) => test === last.test) ? last : undefined;
  }
}

module.exports = RunningTest;
