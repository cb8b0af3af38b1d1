// Reads a project's dead letters from the dead-letter topic.

import { type EventTopic, eventTopics, isObject, type TopicNames } from '@millrace/contracts';
import { type DecodedDeadLetter, decodeDeadLetter, type EventLog, readTopic } from '@millrace/event-log';
import { AppError } from '@millrace/runtime';

export interface DeadLetterLog {
  log: Pick<EventLog, 'append' | 'consume' | 'endOffsets'>;
  topics: TopicNames;
}

/**
 * The project whose dead letters are read. A record belongs to the project if it contains the ID of the project's
 * environment, which the gateway adds. A record without this ID belongs to the project if it was sent with the current
 * project API key.
 */
export interface DeadLetterOwner {
  environmentId: number;
  token: string;
}

export interface ProjectDeadLetter {
  /** The topic, partition and offset of the failed record, for example `live-3-1042`. */
  id: string;
  topic: EventTopic;
  deadLetter: DecodedDeadLetter;
  capturedAt: string | null;
  event: string | null;
  distinctId: string | null;
  bytes: number;
}

export const idPattern = `^(${eventTopics.join('|')})-\\d{1,9}-\\d{1,18}$`;

/** Maximum number of dead letters to return per project. A bug in Millrace could produce far more. */
export const maxDeadLetters = 10_000;
/** Maximum length of names and IDs in lists. Longer values are truncated. */
const maxTextLength = 200;
const readTimeoutMs = 10_000;

/**
 * Reads the topic from its start to its current end, and returns the project's latest dead letters. Includes the
 * captured record only for the dead letters in `fullRecordIds`, because all records together may not fit into memory.
 * @throws AppError `unavailable` if the log does not respond in time
 */
export async function readDeadLetters(
  { log, topics }: DeadLetterLog,
  owner: DeadLetterOwner,
  fullRecordIds: ReadonlySet<string> = new Set(),
): Promise<ProjectDeadLetter[]> {
  const signal = AbortSignal.timeout(readTimeoutMs);
  let deadLetters = new Map<string, ProjectDeadLetter>();
  await readTopic(log, {
    topic: topics.deadLetter,
    from: 'start',
    until: 'end',
    signal,
    onRecord(record) {
      const deadLetter = decodeDeadLetter(record);
      const found = deadLetter && toProjectDeadLetter(deadLetter, owner, topics);
      if (!found) return;
      if (!fullRecordIds.has(found.id))
        found.deadLetter = { ...deadLetter, record: { ...record, value: Buffer.alloc(0) } };
      // If two dead letters have the same ID, keep only the last. The other one may be about a record at the same
      // offset of a previous log.
      deadLetters.set(found.id, found);
      if (deadLetters.size >= 2 * maxDeadLetters) deadLetters = byId(latest(deadLetters));
    },
  });
  if (signal.aborted) {
    const detail = 'Reading the dead letters from the event log took too long. Try again later.';
    throw new AppError('unavailable', detail, { code: 'query_timeout', retryAfterSeconds: 2 });
  }
  return latest(deadLetters);
}

const byId = (deadLetters: ProjectDeadLetter[]) => new Map(deadLetters.map((one) => [one.id, one]));

function latest(deadLetters: ReadonlyMap<string, ProjectDeadLetter>): ProjectDeadLetter[] {
  return [...deadLetters.values()].sort(compareByTime).slice(0, maxDeadLetters);
}

/** Sorts dead letters by time, latest first. */
function compareByTime(one: ProjectDeadLetter, other: ProjectDeadLetter): number {
  return other.deadLetter.at.getTime() - one.deadLetter.at.getTime() || (one.id < other.id ? 1 : -1);
}

/** Converts a dead letter to the format of lists. @returns null if the record does not belong to the project */
function toProjectDeadLetter(
  deadLetter: DecodedDeadLetter,
  owner: DeadLetterOwner,
  topics: TopicNames,
): ProjectDeadLetter | null {
  const { record, position } = deadLetter;
  const topic = eventTopics.find((one) => topics[one] === position.topic);
  if (topic === undefined) return null;
  const hasOwnKey = record.key?.split(':', 1)[0] === owner.token;
  // Do not parse the records of other projects.
  if (!hasOwnKey && !record.value.includes(`"environment_id":${owner.environmentId}`)) return null;
  const captured = readCapturedEvents(record.value);
  const environmentId = isObject(captured) ? captured.environment_id : undefined;
  if (environmentId === undefined ? !hasOwnKey : environmentId !== owner.environmentId) return null;
  const fields = isObject(captured) ? captured : {};
  return {
    id: `${topic}-${position.partition}-${position.offset}`,
    topic,
    deadLetter,
    capturedAt: timeOf(fields.now),
    event: textOf(fields.event),
    distinctId: textOf(fields.distinct_id),
    bytes: record.value.length,
  };
}

/** Returns the captured record, or its content as a string if it is not valid JSON. */
export function readCapturedEvents(value: Buffer): unknown {
  const text = value.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value.slice(0, maxTextLength).toWellFormed() : null);

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}

export function describeReason(reason: string): { detail: string; advice: string } {
  const known = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined;
  const [detail, advice] = known ?? ['The record could not be processed.', unknownReasonAdvice];
  return { detail, advice };
}

const unknownReasonAdvice = 'Find the error in the event consumer log. Replay the record once the cause is fixed.';
const upgradeAdvice =
  'Upgrade to a version that fixes the bug, then replay the record. If no version fixes it yet, report the bug. ' +
  'Until then, leave the record as it is.';
const discardAdvice = 'Replaying the record would fail again. Find the client that sent it, then discard the record.';

const reasons: Record<string, [detail: string, advice: string]> = {
  failed_parse_message: ['The record is not valid JSON.', discardAdvice],
  empty_uuid: ['The event has no UUID.', discardAdvice],
  invalid_uuid: ["The event's UUID is invalid.", discardAdvice],
  token_missing: ['The record has no project API key.', discardAdvice],
  event_name_missing: ['The event has no name.', discardAdvice],
  distinct_id_missing: ['The event has no distinct ID.', discardAdvice],
  timestamp_out_of_range: ["The event's timestamp is outside the range that the database can store.", discardAdvice],
  processing_error: ['Processing the event failed because of a bug in Millrace.', upgradeAdvice],
  refused_by_database: ['PostgreSQL rejected one of the values in the event.', upgradeAdvice],
  ledger_conflict: ['The stored data about the IDs in this event is inconsistent.', upgradeAdvice],
  timed_out: [
    'Storing the event repeatedly took longer than the statement timeout.',
    'Check the load on PostgreSQL, then replay the record.',
  ],
};
