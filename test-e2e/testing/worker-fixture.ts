// Fixtures that several test files share. They start when the first file needs them, and stop when jest's worker
// process ends.

/** packages/stack/src/jest/worker-fixtures.cjs reads this registry too. */
const registry = globalThis as { [key: symbol]: Set<() => Promise<void>> | undefined };
const registryKey = Symbol.for('millrace.worker-fixtures');
const stops = registry[registryKey] ?? new Set();
registry[registryKey] = stops;

/**
 * Returns a function that starts a fixture when it is first called. Later calls, from any test file of the worker
 * process, return the same fixture.
 * @param isUsable returns false if a fixture has ended; another one is then started
 */
export function workerFixture<T>(
  start: () => Promise<T>,
  { stop, isUsable = () => true }: { stop: (started: T) => Promise<void>; isUsable?: (started: T) => boolean },
): () => Promise<T> {
  let started: Promise<T> | undefined;
  const begin = () => {
    const beginning = start();
    const end = async () => stop(await beginning);
    stops.add(end);
    // If starting fails, the next file tries again.
    beginning.catch(() => {
      stops.delete(end);
      started = undefined;
    });
    return beginning;
  };
  return async () => {
    if (started && !isUsable(await started)) started = undefined;
    started ??= begin();
    return started;
  };
}
