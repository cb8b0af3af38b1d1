import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { LogRecord } from '../port/event-log.ts';

/** A fetched message as the port describes it. A tombstone (null value) becomes an empty value. */
export function toLogRecord(message: KafkaMessage): LogRecord {
  return {
    offset: BigInt(message.offset),
    key: message.key === null ? null : message.key.toString('utf8'),
    value: message.value ?? Buffer.alloc(0),
    headers: toHeaders(message.headers),
    appendedAtMs: Number(message.timestamp),
  };
}

const noHeaders: Record<string, string> = Object.freeze({});

/** Kafka allows a header several times and any bytes; the port knows one text per name: the last one counts. */
function toHeaders(headers: IHeaders | undefined): Record<string, string> {
  const entries = Object.entries(headers ?? {});
  // Nearly all records have none, and they wait long enough to be copied by the garbage collector.
  if (entries.length === 0) return noHeaders;
  const result: Record<string, string> = {};
  for (const [name, value] of entries) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) result[name] = last.toString();
  }
  return result;
}
