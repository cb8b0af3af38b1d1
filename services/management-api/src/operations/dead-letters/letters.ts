// The topic of dead letters, read for one project.

import { isObject, type Lane, lanes, type TopicNames } from '@millrace/contracts';
import { type EventLog, type ReadDeadLetter, readTopic, toDeadLetter } from '@millrace/event-log';
import { AppError } from '@millrace/runtime';

/** The log as the event consumer writes it. */
export interface DeadLetterLog {
  log: Pick<EventLog, 'append' | 'consume' | 'endOffsets'>;
  topics: TopicNames;
}

/** Whose letters are read: those that the gateway marked with the environment, and those sent with its key of today. */
export interface LetterOwner {
  environmentId: number;
  token: string;
}

export interface ProjectLetter {
  /** Lane, partition and offset of the record that was given up: `live-3-1042`. */
  id: string;
  lane: Lane;
  letter: ReadDeadLetter;
  capturedAt: string | null;
  event: string | null;
  distinctId: string | null;
  bytes: number;
}

export const idPattern = `^(${lanes.join('|')})-\\d{1,9}-\\d{1,18}$`;

/** The latest of a project; a mistake of ours may make many more. */
export const mostLetters = 10_000;
/** Longer names and ids are cut where letters are listed. */
const longestText = 200;
const patienceMs = 10_000;

/**
 * Reads the topic from its start to its present end, and keeps the latest letters of the owner. Only wanted letters keep
 * what was captured: all together may be larger than memory.
 *
 * @throws AppError `unavailable` when the log does not answer in time.
 */
export async function readLetters(
  { log, topics }: DeadLetterLog,
  owner: LetterOwner,
  wanted: ReadonlySet<string> = new Set(),
): Promise<ProjectLetter[]> {
  const signal = AbortSignal.timeout(patienceMs);
  let letters = new Map<string, ProjectLetter>();
  await readTopic(log, {
    ...{ topic: topics.deadLetter, from: 'start', until: 'end', signal },
    onRecord(record) {
      const letter = toDeadLetter(record);
      const found = letter && toProjectLetter(letter, owner, topics);
      if (!found) return;
      if (!wanted.has(found.id)) found.letter = { ...letter, record: { ...record, value: Buffer.alloc(0) } };
      // Written twice it is one; the later one counts where another log had a record at the same place.
      letters.set(found.id, found);
      if (letters.size >= 2 * mostLetters) letters = byId(latest(letters));
    },
  });
  if (signal.aborted) {
    const detail = 'Reading the dead letters from the event log took too long. Try again later.';
    throw new AppError('unavailable', detail, { code: 'query_timeout', retryAfterSeconds: 2 });
  }
  return latest(letters);
}

const byId = (letters: ProjectLetter[]) => new Map(letters.map((one) => [one.id, one]));

function latest(letters: ReadonlyMap<string, ProjectLetter>): ProjectLetter[] {
  return [...letters.values()].sort(isBefore).slice(0, mostLetters);
}

/** The order of lists: the latest first. */
function isBefore(one: ProjectLetter, other: ProjectLetter): number {
  return other.letter.at.getTime() - one.letter.at.getTime() || (one.id < other.id ? 1 : -1);
}

/** Null for the letters of others, and for those that tell no owner. */
function toProjectLetter(letter: ReadDeadLetter, owner: LetterOwner, topics: TopicNames): ProjectLetter | null {
  const { record, position } = letter;
  const lane = lanes.find((one) => topics[one] === position.topic);
  if (lane === undefined) return null;
  const isNamed = record.key?.split(':', 1)[0] === owner.token;
  // Records of others are not read as JSON.
  if (!isNamed && !record.value.includes(`"environment_id":${owner.environmentId}`)) return null;
  const captured = readCaptured(record.value);
  const environmentId = isObject(captured) ? captured.environment_id : undefined;
  if (environmentId === undefined ? !isNamed : environmentId !== owner.environmentId) return null;
  const fields = isObject(captured) ? captured : {};
  return {
    id: `${lane}-${position.partition}-${position.offset}`,
    lane,
    letter,
    capturedAt: timeOf(fields.now),
    event: textOf(fields.event),
    distinctId: textOf(fields.distinct_id),
    bytes: record.value.length,
  };
}

/** What was captured; as a text where it is no JSON. */
export function readCaptured(value: Buffer): unknown {
  const text = value.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value.slice(0, longestText).toWellFormed() : null);

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** What went wrong and what to do about it, for people. */
export function wordsOf(reason: string): { detail: string; advice: string } {
  const known = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined;
  const [detail, advice] = known ?? ['The record could not be processed.', look];
  return { detail, advice };
}

const look = 'Find the error in the event consumer log. Replay the record once the cause is fixed.';
const ofProgram =
  'Upgrade to a version that fixes the bug, then replay the record. If no version fixes it yet, report the bug. ' +
  'Until then, leave the record as it is.';
const hopeless = 'Replaying the record would fail again. Find the client that sent it, then discard the record.';

const reasons: Record<string, [detail: string, advice: string]> = {
  failed_parse_message: ['The record is not valid JSON.', hopeless],
  empty_uuid: ['The event has no UUID.', hopeless],
  invalid_uuid: ["The event's UUID is invalid.", hopeless],
  token_missing: ['The record has no project API key.', hopeless],
  event_name_missing: ['The event has no name.', hopeless],
  distinct_id_missing: ['The event has no distinct ID.', hopeless],
  timestamp_out_of_range: ["The event's timestamp is outside the range that the database can store.", hopeless],
  processing_error: ['Processing the event failed because of a bug in Millrace.', ofProgram],
  refused_by_database: ['PostgreSQL rejected one of the values in the event.', ofProgram],
  ledger_conflict: ['The stored data about the IDs in this event is inconsistent.', ofProgram],
  timed_out: [
    'Storing the event repeatedly took longer than the statement timeout.',
    'Check the load on PostgreSQL, then replay the record.',
  ],
};
