import { BatchTooLarge } from './batch-too-large.ts';

/**
 * The most that one statement may load of persons or groups, in bytes of JSON. As objects they take several times as
 * much, and several batches are under way at once.
 */
export const maxLoadedBytes = 8 * 1024 * 1024;

/**
 * @param runningBytes sums over the rows of a statement that leaves out the properties beyond the limit.
 * @throws BatchTooLarge when any were left out.
 */
export function checkLoaded(what: string, runningBytes: readonly number[]): void {
  const bytes = Math.max(0, ...runningBytes);
  if (bytes > maxLoadedBytes) throw new BatchTooLarge(what, Math.ceil(bytes / maxLoadedBytes) + 1);
}
