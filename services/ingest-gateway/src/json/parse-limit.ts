// Limits the size of JSON that a worker thread parses, because running out of memory can crash the whole process.

import { resourceLimits } from 'node:worker_threads';
import { AppError } from '@millrace/runtime';

/**
 * The memory in bytes for parsing, repairing and serializing each character of a JSON text. Of all texts that were
 * tried, some needed more than 6.5 bytes and none more than 8. The remaining bytes are a reserve.
 */
const heapBytesPerCharacter = 10;

const { maxOldGenerationSizeMb: heapMb } = resourceLimits;
/** The main thread has no limit, because it parses only small bodies. */
const maxLength = heapMb === undefined ? Number.POSITIVE_INFINITY : (heapMb * 1024 * 1024) / heapBytesPerCharacter;

/**
 * Rejects JSON text that may not fit into this thread's heap. If the heap fills up, Node.js ends only the thread, and
 * only its request fails. But if a single value does not fit, V8 aborts the whole process.
 *
 * @param length the length of the JSON text, in characters or bytes
 * @throws AppError `too_large` (`request_too_large`) if the text may need more memory than this thread has
 */
export function requireParsableLength(length: number): void {
  if (length <= maxLength) return;
  const limit = Math.floor(maxLength);
  const message = `The gateway cannot parse ${length} characters of JSON at once, only ${limit}. Send smaller batches.`;
  throw new AppError('too_large', message, { code: 'request_too_large' });
}
