// Ends what test files share (test-e2e/testing/worker-fixture.ts) when the process has run its last file.

/** @returns {Set<() => Promise<void>>} how to stop each */
const workerFixtures = () => globalThis[Symbol.for('millrace.worker-fixtures')] ?? new Set();

async function stopWorkerFixtures() {
  await Promise.allSettled([...workerFixtures()].map((stop) => stop()));
  workerFixtures().clear();
}

/**
 * By this message jest-worker tells a process that there are no more files. Half a second later it kills the process, which may be
 * too early for an orderly stop: programs that tests started end with their parent, and databases with the run.
 */
const endMessage = 2;

if (process.send) {
  process.on('message', ([type]) => {
    if (type === endMessage) process.exit();
  });
}

module.exports = { workerFixtures, stopWorkerFixtures };
