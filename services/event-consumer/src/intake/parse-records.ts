import type { CapturedEvent, CapturedWarning } from '@millrace/contracts';
import type { LogBatch, LogRecord } from '@millrace/event-log';
import type { DeadLetterReason } from '../model/dead-letter.ts';
import type { RecordPosition } from '../model/incoming-event.ts';
import type { RecordOwner } from '../model/record-owner.ts';
import type { UnprocessableRecord } from '../model/unprocessable-record.ts';
import { type ParsedRecord, parseRecord } from './parse-record.ts';
import { parseHead, parseProperties, type UnparsedEvent, UnreadableProperties } from './unparsed-event.ts';

export interface ParsedRecords {
  events: { captured: CapturedEvent | UnparsedEvent; record: LogRecord; position: RecordPosition }[];
  warnings: CapturedWarning[];
  unprocessable: UnprocessableRecord[];
}

/** `heads`: properties stay unparsed until they are asked for. `whole`: those of every record are parsed at once. */
export type ParsingDepth = 'heads' | 'whole';

/**
 * Reads the records of a batch in their order. With `deadLetterReason` none of them is processed: they all become dead
 * letters for that reason.
 */
export function parseRecords(
  batch: LogBatch,
  { deadLetterReason, depth }: { deadLetterReason: DeadLetterReason | null; depth: ParsingDepth },
): ParsedRecords {
  const parsed: ParsedRecords = { events: [], warnings: [], unprocessable: [] };
  for (const record of batch.records) {
    const position = { log: batch.log, topic: batch.topic, partition: batch.partition, offset: record.offset };
    const content = readRecord(record.value, depth);
    if (content.kind === 'invalid') {
      parsed.unprocessable.push({
        letter: { record, position, reason: content.reason, step: 'parse_record' },
        owner: ownerOfKey(record),
        eventUuid: null,
        message: content.message,
      });
    } else if (deadLetterReason !== null) {
      parsed.unprocessable.push({
        letter: { record, position, reason: deadLetterReason, step: 'process_batch' },
        owner: content,
        eventUuid: content.uuid,
        message: null,
      });
    } else if (content.kind === 'event') {
      parsed.events.push({ captured: content, record, position });
    } else {
      parsed.warnings.push(content);
    }
  }
  return parsed;
}

function readRecord(value: Buffer, depth: ParsingDepth): ParsedRecord | UnparsedEvent {
  const head = parseHead(value);
  return head !== null && (depth === 'heads' || isReadable(head)) ? head : parseRecord(value);
}

function isReadable(event: UnparsedEvent): boolean {
  try {
    parseProperties(event);
    return true;
  } catch (error) {
    if (error instanceof UnreadableProperties) return false;
    throw error;
  }
}

/** Whose records they are, as they say. */
export function ownersOf({ events, warnings, unprocessable }: ParsedRecords): RecordOwner[] {
  return [
    ...events.map(({ captured }) => captured),
    ...warnings,
    ...unprocessable.flatMap(({ owner }) => (owner === null ? [] : [owner])),
  ];
}

/** Keys are `token` or `token:distinct_id` (packages/contracts, recordKey); a token has no colon. */
function ownerOfKey({ key, appendedAtMs }: LogRecord): RecordOwner | null {
  const token = key?.split(':', 1)[0];
  return token === undefined ? null : { token, now: new Date(appendedAtMs).toISOString() };
}
