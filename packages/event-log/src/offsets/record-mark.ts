import { crc32c } from '@node-rs/crc32';
import type { LogRecord } from '../port/event-log.ts';

type Marked = Pick<LogRecord, 'offset' | 'key' | 'value' | 'appendedAtMs'>;

/**
 * What is stored about the last record that took effect: its offset, when it was appended, and a checksum. When the log
 * has another record at that offset, it is another log, or has lost its end and grown again.
 */
export function recordMark({ offset, key, value, appendedAtMs }: Marked): string {
  return `${offset}/${Math.round(appendedAtMs)}/${crc32c(value, crc32c(key ?? '')).toString(16)}`;
}

/** The offset a mark is of. */
export function markedOffset(mark: string): bigint {
  return BigInt(mark.slice(0, mark.indexOf('/')));
}
