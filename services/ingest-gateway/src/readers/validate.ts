import { isDeeperThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Static, Type } from 'typebox';
import type { RawFields } from '../json/event-fields.ts';
import { maxNesting } from '../json/scan.ts';
import { type DropSample, maxSamples } from './drops.ts';

/** The events of a request after each was validated by itself. */
export interface ValidatedEvents {
  /** Those that can be used, in their order. */
  usable: ClientEvent[];
  /** For each of them its index in the request; undefined when it is the same. */
  indexes: Int32Array<ArrayBuffer> | undefined;
  drops: EventDrop[];
  firstFault: { index: number; fault: EventFault } | null;
}

/** The events left out for one cause. */
export interface EventDrop {
  cause: EventFault['cause'];
  count: number;
  /** Samples of the first ones, up to the limit. */
  samples: DropSample[];
}

const noDrops: EventDrop[] = [];

/**
 * Separates the events that can be used from those with a fault.
 *
 * @param isShallow true when none can be nested too deep.
 */
export function validateEvents(events: readonly unknown[], isShallow: boolean): ValidatedEvents {
  let firstFault: ValidatedEvents['firstFault'] = null;
  for (let index = 0; index < events.length && firstFault === null; index++) {
    const fault = findFault(events[index], isShallow);
    if (fault !== null) firstFault = { index, fault };
  }
  if (firstFault === null) return { usable: events as ClientEvent[], indexes: undefined, drops: noDrops, firstFault };
  const usable: ClientEvent[] = [];
  const indexes = new Int32Array(events.length);
  const drops = new Map<EventFault['cause'], EventDrop>();
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    const fault = findFault(event, isShallow);
    if (fault === null) {
      indexes[usable.length] = index;
      usable.push(event as ClientEvent);
      continue;
    }
    const { cause } = fault;
    const drop = drops.get(cause) ?? { cause, count: 0, samples: [] };
    drops.set(cause, drop);
    drop.count += 1;
    if (drop.samples.length < maxSamples) drop.samples.push(sampleOf(event, index, fault));
  }
  return { usable, indexes: indexes.slice(0, usable.length), drops: [...drops.values()], firstFault };
}

/** What may be reported about an event that is too deep to be walked through. */
function sampleOf(event: unknown, index: number, { path, reason }: EventFault): DropSample {
  const { event: name, uuid } = (event ?? {}) as Record<string, unknown>;
  return {
    index,
    uuid: isClientUuid(uuid) && uuid !== '' ? toCanonicalUuid(uuid) : null,
    event: typeof name === 'string' ? name : null,
    field: path.join('.') || null,
    reason,
  };
}

/** Why one event of a request cannot be used. Nothing of what is in it is repeated. */
interface EventFault {
  cause: 'invalid_event' | 'malformed_event_properties';
  /** From the event's top, e.g. `properties`, `$cookieless_mode`; empty when it is about the whole event. */
  path: readonly string[];
  /** `must be an object, not number`. */
  reason: string;
}

/**
 * What is wrong with one event, by its types and its depth (docs/wire-rules.md#event-fields); null when it can be
 * used. A name or an id that is missing is no fault: such an event is dropped and answered with 200.
 *
 * @param isShallow true when it cannot be nested too deep.
 */
function findFault(event: unknown, isShallow: boolean): EventFault | null {
  const cause = 'invalid_event';
  if (!isObject(event)) {
    return { cause, path: [], reason: `must be a JSON object, not ${typeName(event)}` };
  }
  const problem = findFieldProblem(event);
  if (problem !== null) {
    const { path, expected } = problem;
    const value = path.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], event);
    const received = typeof value === 'string' && expected === 'a UUID' ? '' : `, not ${typeName(value)}`;
    return { cause, path, reason: `must be ${expected}${received}` };
  }
  if (isShallow || !isDeeperThan(event, maxNesting)) return null;
  return { cause: 'malformed_event_properties', path: [], reason: `is nested deeper than ${maxNesting} levels` };
}

/** @param prefix how the position of the event in the request is written in `attr`. */
export function refusalOf({ cause, path, reason }: EventFault, prefix: readonly string[]): AppError {
  const subject = path.length === 0 ? 'The event' : `The field \`${path.join('.')}\``;
  return new AppError('invalid', `${subject} ${reason}.`, {
    code: cause === 'invalid_event' ? 'invalid_payload' : 'too_deep',
    attr: [...prefix, ...path].join('__') || null,
  });
}

const objectOrNull = Type.Unsafe<JsonObject | null>({ type: ['object', 'null'] });

/**
 * One event as a client sends it: the types that are checked (docs/wire-rules.md#event-fields). Names and ids are
 * not in it: an event without them is dropped, not refused. Fields that are not listed are accepted and left out.
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

/** An event after validation. What the schema does not check is still unknown. */
export type ClientEvent = Static<typeof clientEventSchema> & {
  event?: unknown;
  distinct_id?: unknown;
  $distinct_id?: unknown;
  $unset?: unknown;
  /** Where the whole of its properties and what is to be set are written, when only what is looked at was read. */
  raw?: RawFields;
};

/** Hyphenated, 32 digits, braced or as URN; the empty text counts as none (cases F13-F15). */
const clientUuid =
  /^(?:|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** @param uuid of whatever type. */
function isClientUuid(uuid: unknown): uuid is string {
  return typeof uuid === 'string' && clientUuid.test(uuid);
}

const ajv = new Ajv2020({ allowUnionTypes: true, formats: { 'client-uuid': clientUuid } });
const validate = ajv.compile<ClientEvent>(clientEventSchema);

/** What is wrong with an event: the field's path, and what it should be. */
interface FieldProblem {
  path: string[];
  expected: string;
}

/** Null when the value is a well-typed event. */
function findFieldProblem(value: unknown): FieldProblem | null {
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  return {
    path: (error?.instancePath ?? '').split('/').filter((part) => part !== ''),
    expected: expectation(error?.keyword, error?.params),
  };
}

function expectation(keyword: string | undefined, params: { type?: string | string[] } | undefined): string {
  if (keyword === 'format') return 'a UUID';
  const types = [params?.type ?? []].flat().filter((type) => type !== 'null');
  return types.map((type) => (type === 'object' || type === 'integer' ? `an ${type}` : `a ${type}`)).join(' or ');
}

/** @param value only its type goes into the message, never what is in it; undefined when there is none. */
export function invalidField(path: string[], sentence: string, value: unknown): AppError {
  const received = value === undefined ? '' : `, not ${typeName(value)}`;
  return new AppError('invalid', `${sentence}${received}.`, {
    code: 'invalid_payload',
    attr: path.join('__') || null,
  });
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** Null when there is no name. A name that is not text is none. @param nameForNameless what the path calls such events. */
export function readName(event: ClientEvent, nameForNameless: string | null): string | null {
  if (typeof event.event === 'string') return event.event === '' ? null : event.event;
  return nameForNameless;
}

/** A client's uuid in its usual form: lower case with hyphens. @param uuid in one of the forms that are taken. */
export function toCanonicalUuid(uuid: string): string {
  const lower = uuid.toLowerCase();
  if (lower.length === 36) return lower;
  const digits = lower.replace('urn:uuid:', '').replace(/[{}-]/g, '');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}
