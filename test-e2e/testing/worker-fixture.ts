// Fixtures that test files share. They start when the first file needs them and stop when jest's worker process ends.

/** packages/stack/src/jest/worker-fixtures.cjs reads this registry too. */
const registry = globalThis as { [key: symbol]: Set<() => Promise<void>> | undefined };
const registryKey = Symbol.for('millrace.worker-fixtures');
const stops = registry[registryKey] ?? new Set();
registry[registryKey] = stops;

/**
 * Returns a function that starts a fixture on its first call. Later calls return the same one to every test file of the
 * worker process.
 * @param isUsable returns false for a fixture that has ended. Another one is then started.
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
    // If starting failed, the next file tries again.
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
