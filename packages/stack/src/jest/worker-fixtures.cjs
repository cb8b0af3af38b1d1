// Stops the fixtures that test files share (test-e2e/testing/worker-fixture.ts) when the process has run its last file.

/** @returns {Set<() => Promise<void>>} functions that stop a fixture */
const workerFixtures = () => globalThis[Symbol.for('millrace.worker-fixtures')] ?? new Set();

async function stopWorkerFixtures() {
  await Promise.allSettled([...workerFixtures()].map((stop) => stop()));
  workerFixtures().clear();
}

/**
 * jest-worker sends this message when there are no more files, and kills the process half a second later. That may be
 * too early for an orderly stop. Programs that tests started then end with their parent, and databases with the run.
 */
const endMessage = 2;

if (process.send) {
  process.on('message', ([type]) => {
    if (type === endMessage) process.exit();
  });
}

module.exports = { workerFixtures, stopWorkerFixtures };
