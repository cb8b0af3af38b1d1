import { parseZonedTimestamp } from './parse-timestamp.ts';

/** Smaller numbers are seconds or nonsense; the reference ignores years up to 2020 (case T12). */
const oldestQueryMs = Date.UTC(2021, 0, 1);
/** Years that can be written with four digits and stored. */
const newestMs = Date.UTC(9999, 11, 31);
const oldestMs = new Date(0).setUTCFullYear(1, 0, 2);

/**
 * When the client sent the request by its own clock: the batch's `sent_at` (date-time with zone), else query `_`
 * (milliseconds), else null. What cannot be read is ignored. Source: reference/ingest-wire.md section 9.1 rule 1.
 */
export function readSentAt(inBatch: unknown, inQuery: string | null): number | null {
  const fromBatch = typeof inBatch === 'string' ? parseZonedTimestamp(inBatch.trim()) : null;
  if (fromBatch !== null && fromBatch >= oldestMs && fromBatch <= newestMs) return fromBatch;
  if (inQuery === null || !/^\d{1,15}$/.test(inQuery)) return null;
  const ms = Number(inQuery);
  return ms >= oldestQueryMs && ms <= newestMs ? ms : null;
}
