// Manages fixtures that several test files share. They start on first use, and stop when jest's worker process ends.

/** packages/stack/src/jest/worker-fixtures.cjs also reads this registry. */
const registry = globalThis as { [key: symbol]: Set<() => Promise<void>> | undefined };
const registryKey = Symbol.for('millrace.worker-fixtures');
const stops = registry[registryKey] ?? new Set();
registry[registryKey] = stops;

/**
 * Returns a function that starts a fixture on its first call. All further calls return the same fixture in all test
 * files of the worker process.
 * @param isUsable a function that returns false if a fixture has ended; a new fixture is then started
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
    // If starting fails, the next test file tries again.
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
