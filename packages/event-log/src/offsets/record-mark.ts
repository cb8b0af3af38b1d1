import { crc32c } from '@node-rs/crc32';
import type { LogRecord } from '../port/event-log.ts';

type Marked = Pick<LogRecord, 'offset' | 'key' | 'value' | 'appendedAtMs'>;

/**
 * What is kept of the last record that took effect: its offset, when it was appended, and a checksum. A log that has
 * another record at that offset is not the log the offset was stored for, or has lost its end and grown again.
 */
export function recordMark({ offset, key, value, appendedAtMs }: Marked): string {
  return `${offset}/${Math.round(appendedAtMs)}/${crc32c(value, crc32c(key ?? '')).toString(16)}`;
}

/** The offset a mark is of. */
export function markedOffset(mark: string): bigint {
  return BigInt(mark.slice(0, mark.indexOf('/')));
}
