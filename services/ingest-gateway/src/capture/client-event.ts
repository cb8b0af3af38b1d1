// A client event's fields, their validation, and the functions that read them.

import { cutToCodePoints, eventNames, isDeeperThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Static, Type } from 'typebox';
import type { RawFields } from '../json/event-fields.ts';
import { maxNesting } from '../json/scan.ts';
import { type DropSample, maxSamples } from './drops.ts';

const objectOrNull = Type.Unsafe<JsonObject | null>({ type: ['object', 'null'] });

/**
 * An event as a client sends it (docs/wire-rules.md#event-fields). The schema does not check the name and the distinct
 * ID, because an event without them is dropped instead of rejected. Fields that are not listed are ignored.
 */
const clientEventSchema = Type.Object({
  uuid: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'client-uuid' })),
  timestamp: Type.Optional(Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })),
  offset: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'] })),
  $set: Type.Optional(objectOrNull),
  $set_once: Type.Optional(objectOrNull),
  properties: Type.Optional(
    Type.Unsafe<JsonObject>({
      type: 'object',
      properties: { $cookieless_mode: { type: ['boolean', 'null'] } },
    }),
  ),
});

/** Fields that the schema does not validate have the type `unknown`. */
export type ClientEvent = Static<typeof clientEventSchema> & {
  event?: unknown;
  distinct_id?: unknown;
  $distinct_id?: unknown;
  $unset?: unknown;
  /** The positions of all fields in the JSON. Present if only some of the fields were parsed. */
  raw?: RawFields;
};

/** Returns an event's name, or null if it has none. @param nameForNameless the path's name for events without a name */
export function readName(event: ClientEvent, nameForNameless: string | null): string | null {
  if (typeof event.event === 'string') return event.event === '' ? null : event.event;
  return nameForNameless;
}

/**
 * Matches UUIDs with hyphens, with 32 digits, in braces or as a URN. An empty string counts as a missing UUID (cases
 * field-013 to field-015).
 */
const clientUuid =
  /^(?:|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Returns the client's UUID in lower case with hyphens, or null if the event has no UUID. */
export function readUuid({ uuid }: Pick<ClientEvent, 'uuid'>): string | null {
  if (!uuid) return null;
  const lower = uuid.toLowerCase();
  if (lower.length === 36) return lower;
  const digits = lower.replace('urn:uuid:', '').replace(/[{}-]/g, '');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}

const maxCodePoints = 200;

/**
 * Returns the distinct ID as it was sent, or undefined if it is missing. Null counts as missing. An empty string in the
 * event is not missing, so the properties are not searched for an ID (docs/wire-rules.md#distinct-ids).
 */
export function readRawDistinctId(event: ClientEvent): unknown {
  const { properties } = event;
  return event.distinct_id ?? event.$distinct_id ?? properties?.distinct_id ?? properties?.$distinct_id ?? undefined;
}

/**
 * Returns the distinct ID before truncation, or null if it is missing, empty or blank. If it is not a string, returns
 * it as JSON with sorted keys (cases field-001 to field-011).
 */
export function readDistinctId(event: ClientEvent): string | null {
  const raw = readRawDistinctId(event);
  if (raw === undefined) return null;
  const text = typeof raw === 'string' ? raw : sortedJson(raw);
  return text.trim() === '' ? null : text;
}

/** Truncates a distinct ID to the 200 code points that are stored (case field-008). */
export function truncateDistinctId(id: string): string {
  return cutToCodePoints(id, maxCodePoints);
}

/** Maps the name of each merge event to the property that contains the second distinct ID. */
const otherIdProperty = new Map<string, string>([
  [eventNames.identify, '$anon_distinct_id'],
  [eventNames.createAlias, 'alias'],
  [eventNames.mergeDangerously, 'alias'],
]);

/** Returns a merge event's second distinct ID as the client sent it. Returns undefined for all other events. */
export function readRawOtherId({ event, properties }: ClientEvent): unknown {
  const property = otherIdProperty.get(String(event));
  return property === undefined ? undefined : properties?.[property];
}

/**
 * Returns the name of the property that contains a merge event's second distinct ID if this ID is too long, or null if
 * it is not. The ID must be truncated, because its user's events were stored under the truncated ID.
 */
export function findOverlongOtherId(name: string, properties: Record<string, unknown>): string | null {
  const property = otherIdProperty.get(name);
  const id = property === undefined ? undefined : properties[property];
  if (property === undefined || typeof id !== 'string' || truncateDistinctId(id) === id) return null;
  return property;
}

/** Sorts keys, so that equal objects result in equal IDs. */
function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${sortedJson(field)}`).join(',')}}`;
}

export interface ValidatedEvents {
  valid: ClientEvent[];
  /** The original index of each valid event in the request, or undefined if all events are valid. */
  indexes: Int32Array<ArrayBuffer> | undefined;
  drops: EventDrop[];
  firstFault: { index: number; fault: EventFault } | null;
}

export interface EventDrop {
  cause: EventFault['cause'];
  count: number;
  /** The first dropped events, up to `maxSamples`. */
  samples: DropSample[];
}

const noDrops: EventDrop[] = [];

/** Validates a request's events. @param options.isShallow true if the events are known not to be nested too deeply */
export function validateEvents(events: readonly unknown[], { isShallow }: { isShallow: boolean }): ValidatedEvents {
  let firstFault: ValidatedEvents['firstFault'] = null;
  for (let index = 0; index < events.length && firstFault === null; index++) {
    const fault = findFault(events[index], isShallow);
    if (fault !== null) firstFault = { index, fault };
  }
  if (firstFault === null) return { valid: events as ClientEvent[], indexes: undefined, drops: noDrops, firstFault };
  const valid: ClientEvent[] = [];
  const indexes = new Int32Array(events.length);
  const drops = new Map<EventFault['cause'], EventDrop>();
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    const fault = findFault(event, isShallow);
    if (fault === null) {
      indexes[valid.length] = index;
      valid.push(event as ClientEvent);
      continue;
    }
    const { cause } = fault;
    const drop = drops.get(cause) ?? { cause, count: 0, samples: [] };
    drops.set(cause, drop);
    drop.count += 1;
    if (drop.samples.length < maxSamples) drop.samples.push(sampleOf(event, index, fault));
  }
  return { valid, indexes: indexes.slice(0, valid.length), drops: [...drops.values()], firstFault };
}

/** Returns a sample of a dropped event. Reads only top-level fields, because the event may be nested very deeply. */
function sampleOf(event: unknown, index: number, { path, reason }: EventFault): DropSample {
  const { event: name, uuid } = (event ?? {}) as Record<string, unknown>;
  return {
    index,
    uuid: typeof uuid === 'string' && clientUuid.test(uuid) ? readUuid({ uuid }) : null,
    event: typeof name === 'string' ? name : null,
    field: path.join('.') || null,
    reason,
  };
}

/** Why an event cannot be stored, without any event data. */
interface EventFault {
  cause: 'invalid_event' | 'malformed_event_properties';
  /** The path of the invalid field in the event, for example `properties`. Empty if the event as a whole is invalid. */
  path: readonly string[];
  /** The violated rule, for example `must be an object, not number`. */
  reason: string;
}

/**
 * Checks an event's types and depth (docs/wire-rules.md#event-fields). Returns null if it is valid. A missing name or
 * distinct ID is not an error here: such an event is dropped, and the response is still 200.
 */
function findFault(event: unknown, isShallow: boolean): EventFault | null {
  const cause = 'invalid_event';
  if (!isObject(event)) {
    return { cause, path: [], reason: `must be a JSON object, not ${typeName(event)}` };
  }
  const problem = findFieldProblem(event);
  if (problem !== null) {
    const { path, expected } = problem;
    const value = path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], event);
    const received = typeof value === 'string' && expected === 'a UUID' ? '' : `, not ${typeName(value)}`;
    return { cause, path, reason: `must be ${expected}${received}` };
  }
  if (isShallow || !isDeeperThan(event, maxNesting)) return null;
  return { cause: 'malformed_event_properties', path: [], reason: `is nested deeper than ${maxNesting} levels` };
}

/** Creates the error for an invalid event. @param prefix the event's position in the request, as in `attr` */
export function toEventError({ cause, path, reason }: EventFault, prefix: readonly string[]): AppError {
  const subject = path.length === 0 ? 'The event' : `The field \`${path.join('.')}\``;
  return new AppError('invalid', `${subject} ${reason}.`, {
    code: cause === 'invalid_event' ? 'invalid_payload' : 'too_deep',
    attr: [...prefix, ...path].join('__') || null,
  });
}

const ajv = new Ajv2020({ allowUnionTypes: true, formats: { 'client-uuid': clientUuid } });
const validate = ajv.compile<ClientEvent>(clientEventSchema);

interface FieldProblem {
  path: string[];
  expected: string;
}

function findFieldProblem(value: unknown): FieldProblem | null {
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  return {
    path: (error?.instancePath ?? '').split('/').filter((name) => name !== ''),
    expected: expectation(error?.keyword, error?.params),
  };
}

function expectation(keyword: string | undefined, params: { type?: string | string[] } | undefined): string {
  if (keyword === 'format') return 'a UUID';
  const types = [params?.type ?? []].flat().filter((type) => type !== 'null');
  return types.map((type) => (type === 'object' || type === 'integer' ? `an ${type}` : `a ${type}`)).join(' or ');
}

/**
 * Creates the error for a missing or invalid field. The message contains the type of the value, but never its content.
 * @param value undefined if the field is missing
 */
export function invalidFieldError(path: string[], sentence: string, value: unknown): AppError {
  const received = value === undefined ? '' : `, not ${typeName(value)}`;
  return new AppError('invalid', `${sentence}${received}.`, {
    code: 'invalid_payload',
    attr: path.join('__') || null,
  });
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
