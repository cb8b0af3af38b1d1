import type { OutgoingRecord } from '../../../append/transport.ts';
import { measureRecordBatch, writeRecordBatch } from '../produce.ts';

export function encodeRecordBatch(records: OutgoingRecord[], timestampMs: number): Buffer {
  const batch = measureRecordBatch(records);
  const buffer = Buffer.allocUnsafe(batch.size);
  writeRecordBatch(buffer, batch, timestampMs);
  return buffer;
}
