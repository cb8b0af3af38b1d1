import { isUtf8 } from 'node:buffer';
import { isObject } from '@millrace/contracts';
import type { Line } from './read-lines.ts';

/** Why a line is not an event that can be imported. */
export interface Fault {
  line: number;
  /** The field to blame, as a path; null when it is the line itself. */
  field: string | null;
  reason: string;
}

export type CheckedLine =
  | { kind: 'blank' }
  | { kind: 'event'; event: JsonObject /** As it stands in the file. */; text: string }
  | { kind: 'invalid'; fault: Fault };

export type JsonObject = Record<string, unknown>;

const isoTime =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?Z|(?: ?[+-]\d{2}(?::?\d{2})?))?)?$/i;
const uuidForm =
  /^(?:[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * Reads a line as an event of a historical migration: a name, a distinct id and the time it happened at, which live
 * events may leave out (docs/ingestion-rules.md#historical-migrations). What the ingest host would drop in
 * silence is a fault here, so that nothing is missing afterwards without having been named.
 */
export function checkLine(line: Line): CheckedLine {
  const fault = (field: string | null, reason: string): CheckedLine => ({
    kind: 'invalid',
    fault: { line: line.number, field, reason },
  });
  if (line.bytes === null) return fault(null, 'longer than a request may be');
  if (!isUtf8(line.bytes)) return fault(null, 'not UTF-8 text');
  const text = line.bytes.toString('utf8').trim();
  if (text === '') return { kind: 'blank' };
  const event = parse(text);
  if (event === undefined) return fault(null, 'not JSON');
  if (!isObject(event)) return fault(null, 'not a JSON object; one event per line');
  const problem = findProblem(event);
  return problem === null ? { kind: 'event', event, text } : fault(...problem);
}

function findProblem(event: JsonObject): [field: string, reason: string] | null {
  if (typeof event.event !== 'string') return ['event', event.event === undefined ? 'missing' : 'must be a text'];
  if (event.event === '') return ['event', 'empty'];
  for (const name of ['properties', '$set', '$set_once'] as const) {
    const value = event[name];
    const mayBeNull = name !== 'properties';
    if (value !== undefined && !isObject(value) && !(mayBeNull && value === null)) return [name, 'must be an object'];
  }
  const distinctId = distinctIdOf(event);
  if (distinctId === undefined) return ['distinct_id', 'missing'];
  if (typeof distinctId !== 'string' && typeof distinctId !== 'number') {
    return ['distinct_id', 'must be a text or a number'];
  }
  if (String(distinctId).trim() === '') return ['distinct_id', 'empty'];
  if (event.timestamp === undefined || event.timestamp === null) return ['timestamp', 'missing'];
  if (!isTime(event.timestamp)) return ['timestamp', 'must be a time in ISO 8601, such as 2024-01-31T12:00:00Z'];
  if (event.uuid && !(typeof event.uuid === 'string' && uuidForm.test(event.uuid))) return ['uuid', 'must be a UUID'];
  return null;
}

/** In the places and the order in which the ingest host looks (docs/wire-rules.md#distinct-ids). */
function distinctIdOf(event: JsonObject): unknown {
  const properties = (event.properties ?? {}) as JsonObject;
  return event.distinct_id ?? event.$distinct_id ?? properties.distinct_id ?? properties.$distinct_id ?? undefined;
}

function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || !isoTime.test(value)) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (value.match(/\d+/g) ?? []).map(Number);
  // A day that does not exist would silently become one of the next month.
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const hasTime = value.length > 10;
  return isDay && (!hasTime || (hour <= 24 && minute <= 59 && second <= 60));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
