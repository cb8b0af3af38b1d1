import { isDeeperThan, isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { cleanValue, mayNeedCleaning } from '../json/clean-text.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseZonedTimestamp } from '../time/parse-timestamp.ts';

type Fields = Record<string, unknown>;

/** One event of a batch as it was sent; only its uuid has been looked at. */
export interface V1Sent {
  /** As the client wrote it: by this it looks for the result. */
  uuid: string;
  /** Null when it is nested too deep to be walked through. */
  fields: Fields | null;
}

export interface V1Batch {
  /** At least one, no uuid twice. */
  events: V1Sent[];
  isHistorical: boolean;
}

const maxNesting = 64;
const uuidText = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
/** As nearly every client writes it. */
const usualUuidText = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * JSON text to a batch. Only what leaves no way to answer for every event refuses the whole: the envelope, and uuids
 * that are missing or not unique (docs/wire-rules.md#capture-v1).
 *
 * @throws AppError `invalid` with a code of the protocol.
 */
export function parseV1Batch(text: string): V1Batch {
  const parsed = parseJson(text);
  if (!isObject(parsed)) throw refused('request_parsing_error', 'The body must be a JSON object.', null);
  const { created_at: createdAt, historical_migration: historical = false, batch } = parsed;
  if (!Array.isArray(batch)) throw refused('invalid_batch', 'The field `batch` must be an array of events.', 'batch');
  if (batch.length === 0) throw refused('empty_batch', 'The batch holds no event.', 'batch');
  if (typeof createdAt !== 'string' || parseZonedTimestamp(createdAt) === null) {
    throw refused(
      'invalid_batch',
      'The field `created_at` must be a date-time with its zone (RFC 3339).',
      'created_at',
    );
  }
  if (typeof historical !== 'boolean') {
    throw refused('invalid_batch', 'The field `historical_migration` must be a boolean.', 'historical_migration');
  }
  const isToBeCleaned = mayNeedCleaning(text);
  const seen = new Set<string>();
  const events = batch.map((event: unknown, index): V1Sent => {
    if (!isObject(event)) throw refused('invalid_batch', 'An event must be a JSON object.', `batch__${index}`);
    const uuid = readUuid(event.uuid, index, seen);
    if (isDeeperThan(event, maxNesting)) return { uuid, fields: null };
    if (isToBeCleaned) cleanValue(event);
    return { uuid, fields: event };
  });
  return { events, isHistorical: historical };
}

/** @param seen the uuids before it, in one form. */
function readUuid(uuid: unknown, index: number, seen: Set<string>): string {
  const refuse = (code: string, message: string) => refused(code, message, `batch__${index}__uuid`);
  if (uuid === undefined || uuid === null || uuid === '') {
    throw refuse('missing_event_uuid', 'Every event needs a UUID of its own.');
  }
  if (typeof uuid !== 'string' || !uuidText.test(uuid)) {
    throw refuse('invalid_event_uuid', 'The field `uuid` must be a UUID.');
  }
  const usual = toUsualForm(uuid);
  if (seen.has(usual)) throw refuse('duplicate_event_uuid', 'Two events of the batch have the same UUID.');
  seen.add(usual);
  return uuid;
}

/** The same text when nothing is to be changed: a batch may hold half a million of them. */
function toUsualForm(uuid: string): string {
  if (usualUuidText.test(uuid)) return uuid;
  return uuid
    .toLowerCase()
    .replaceAll('-', '')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function refused(code: string, message: string, attr: string | null): AppError {
  return new AppError('invalid', message, { code, attr });
}
