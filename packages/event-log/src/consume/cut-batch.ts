import type { LogRecord } from '../port/event-log.ts';

/**
 * The records of the next batch: from index `start`, at most `maxRecords`, cut once their values reach `maxBytes`;
 * at least one.
 */
export function cutBatch(records: LogRecord[], start: number, maxRecords: number, maxBytes: number): LogRecord[] {
  let bytes = 0;
  let end = start;
  while (end < records.length && end - start < maxRecords && (end === start || bytes < maxBytes)) {
    bytes += records[end]?.value.length ?? 0;
    end += 1;
  }
  return records.slice(start, end);
}
