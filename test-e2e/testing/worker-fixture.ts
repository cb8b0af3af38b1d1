// What test files share: started when the first one needs it, stopped when the worker process of jest ends.

/** Also read by packages/stack/src/jest/worker-fixtures.cjs. */
const registry = globalThis as { [key: symbol]: Set<() => Promise<void>> | undefined };
const registryKey = Symbol.for('millrace.worker-fixtures');
const stops = registry[registryKey] ?? new Set();
registry[registryKey] = stops;

/**
 * Returns a function that starts something on its first call and returns the same one from then on, to every test file that the
 * worker process runs.
 * @param isUsable false for one that has ended in the meantime; another is started in its place
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
    // A start that failed is tried again by the next file.
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
