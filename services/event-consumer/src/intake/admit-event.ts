import { type CapturedEvent, cutToCodePoints, isLongerThan } from '@millrace/contracts';
import type { DropReason } from '../model/event-outcome.ts';
import type { IngestProject, RecordPosition } from '../model/incoming-event.ts';
import type { RuleWarning } from '../model/warning.ts';
import { parseTimestamp } from '../values/parse-timestamp.ts';
import { maxIdCharacters } from '../values/text-length.ts';
import type { Refusal } from './refuse-event.ts';
import type { UnparsedEvent } from './unparsed-event.ts';

/** An event the rules will see, as it came, with what was found out without reading its properties. */
export interface AdmittedEvent {
  received: CapturedEvent | UnparsedEvent;
  project: IngestProject;
  position: RecordPosition;
  /** Milliseconds since the epoch. */
  timestampMs: number;
  capturedAtMs: number;
  hasUnreadableTimestamp: boolean;
  /** They count only if it is not a duplicate. */
  warnings: RuleWarning[];
  /** Set when it is dropped, unless it is a duplicate, before any rule sees it. */
  refusal?: Refusal;
}

/** An event ready for its project, or the reason why the project cannot have it. */
export type Admission =
  | { kind: 'event'; event: AdmittedEvent }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };

export function admitEvent(
  received: CapturedEvent | UnparsedEvent,
  project: IngestProject,
  position: RecordPosition,
): Admission {
  if (isLongerThan(received.distinct_id, maxIdCharacters)) return dropForDistinctId(received);
  const capturedAtMs = parseTimestamp(received.now) ?? 0;
  const timestampMs = parseTimestamp(received.timestamp);
  return {
    kind: 'event',
    event: {
      received,
      project,
      position,
      timestampMs: timestampMs ?? capturedAtMs,
      capturedAtMs,
      hasUnreadableTimestamp: timestampMs === null,
      warnings: timestampMs === null ? [invalidTimestamp(received)] : [],
    },
  };
}

type Head = Omit<CapturedEvent, 'properties'>;

function dropForDistinctId({ uuid, distinct_id: distinctId }: Head): Admission {
  const details = { eventUuid: uuid, distinctId: cutToCodePoints(distinctId, 100).toWellFormed() };
  return {
    kind: 'drop',
    reason: 'distinct_id_too_long',
    warnings: [{ type: 'skipping_event_invalid_distinct_id', details }],
  };
}

function invalidTimestamp({ uuid, distinct_id: distinctId }: Head): RuleWarning {
  return { type: 'ignored_invalid_timestamp', details: { eventUuid: uuid, distinctId } };
}
