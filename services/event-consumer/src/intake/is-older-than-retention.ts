import type { ResolvedProject } from '../model/incoming-event.ts';

const dayMs = 86_400_000;

/**
 * Whether an event is too old to be kept. It has no effect at all then, on persons neither: the identities of events this
 * old are deleted (the delivery worker's retention), so a repetition of one could not be told from a new event.
 */
export function isOlderThanRetention(
  timestampMs: number,
  { eventRetentionDays }: Pick<ResolvedProject, 'eventRetentionDays'>,
  nowMs: number,
): boolean {
  return eventRetentionDays !== null && timestampMs < nowMs - eventRetentionDays * dayMs;
}
