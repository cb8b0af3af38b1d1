import { parseZonedTimestamp } from './parse-timestamp.ts';

/** Smaller numbers are seconds or nonsense; the reference ignores years up to 2020 (case T12). */
const oldestQueryMs = Date.UTC(2021, 0, 1);
/** Years that can be written with four digits and stored. */
const newestMs = Date.UTC(9999, 11, 31);
const oldestMs = new Date(0).setUTCFullYear(1, 0, 2);

/**
 * When the client sent the request by its own clock: the batch's `sent_at` (date-time with zone), else query `_`
 * (milliseconds), else null. What cannot be read is ignored (docs/wire-rules.md#times).
 */
export function readSentAt(inBatch: unknown, inQuery: string | null): number | null {
  const fromBatch = readInBatch(inBatch);
  if (fromBatch !== null) return fromBatch;
  if (inQuery === null || !/^\d{1,15}$/.test(inQuery)) return null;
  const ms = Number(inQuery);
  return ms >= oldestQueryMs && ms <= newestMs ? ms : null;
}

/**
 * What a batch says about the time of its sending, if it cannot be read; undefined when it can, or when nothing is said.
 * The project is told.
 */
export function unreadableSentAt(inBatch: unknown): string | undefined {
  if (inBatch === undefined || inBatch === null || inBatch === '' || readInBatch(inBatch) !== null) return undefined;
  return typeof inBatch === 'string' ? inBatch : `a value of type ${typeof inBatch}`;
}

function readInBatch(sentAt: unknown): number | null {
  const ms = typeof sentAt === 'string' ? parseZonedTimestamp(sentAt.trim()) : null;
  return ms !== null && ms >= oldestMs && ms <= newestMs ? ms : null;
}
