// Defines the event fields that the gateway reads, and reads them from scanned JSON.

import { isObject, type JsonObject } from '@millrace/contracts';
import { requireParsableLength } from './parse-limit.ts';

/** PHP, and therefore every PHP SDK, encodes an empty object as `[]`, so in these fields `[]` means an empty object. */
const objectFields = ['properties', '$set', '$set_once'] as const;
const objectProperties = ['$set', '$set_once', '$groups', '$group_set'] as const;

type Fields = Record<string, unknown>;

/** Replaces empty arrays with empty objects, in place, in fields that must be objects. */
export function repairEmptyObjects(event: unknown): void {
  if (!isObject(event)) return;
  repair(event, objectFields);
  repairEmptyProperties(event.properties);
}

export function repairEmptyProperties(properties: unknown): void {
  if (isObject(properties)) repair(properties, objectProperties);
}

function repair(fields: Fields, names: readonly string[]): void {
  for (const name of names) {
    const value = fields[name];
    if (Array.isArray(value) && value.length === 0) fields[name] = {};
  }
}

/**
 * The fields that the gateway reads. All other fields are copied to the log as they were sent. For each of these
 * fields, a scan stores a slot of two numbers: where the field's value starts and where it ends.
 */
const eventFields = [
  'event',
  'distinct_id',
  '$distinct_id',
  'uuid',
  'timestamp',
  'offset',
  'properties',
  '$set',
  '$set_once',
  '$unset',
  'api_key',
  'token',
  '$token',
] as const;

/** Additional fields of the object that contains a batch. */
const envelopeFields = ['batch', 'historical_migration', 'sent_at', 'sentAt'] as const;

const propertyFields = [
  'token',
  'distinct_id',
  '$distinct_id',
  '$cookieless_mode',
  '$ignore_sent_at',
  'capture_internal',
  '$anon_distinct_id',
  'alias',
] as const;

type EventField = (typeof eventFields)[number] | (typeof envelopeFields)[number];
type PropertyField = (typeof propertyFields)[number];

const allFields = [...eventFields, ...envelopeFields];
export const positionsPerEvent = 2 * (allFields.length + propertyFields.length);

const slotByField = new Map<string, number>(allFields.map((name, index) => [name, 2 * index]));
const slotByProperty = new Map<string, number>(
  propertyFields.map((name, index) => [name, 2 * (allFields.length + index)]),
);

/** Returns where a field's slot begins within its event's position numbers. */
export function getPositionIndex(name: EventField): number {
  return slotByField.get(name) ?? 0;
}

const propertySlots: readonly { name: PropertyField; slot: number }[] = propertyFields.map((name) => ({
  name,
  slot: slotByProperty.get(name) ?? 0,
}));

/** Field names grouped by length, because the length alone rules out most names in an event. */
export type NameTable = readonly (readonly { bytes: Buffer; slot: number }[])[];

function tableOf(slots: ReadonlyMap<string, number>): NameTable {
  const table: { bytes: Buffer; slot: number }[][] = Array.from({ length: 32 }, () => []);
  for (const [name, slot] of slots) table[name.length]?.push({ bytes: Buffer.from(name), slot });
  return table;
}

/** Stands for a property whose position is not stored, but that must not be an empty array. */
const objectProperty = -2;

export const fieldNames = tableOf(slotByField);
export const propertyNames = tableOf(
  new Map([...slotByProperty, ...objectProperties.map((name) => [name, objectProperty] as const)]),
);

const objectSlots = new Set(objectFields.map(getPositionIndex));

/** Returns true if the field must be an object (see `repairEmptyObjects`). */
export function isObjectField(names: NameTable, slot: number): boolean {
  return names === fieldNames ? objectSlots.has(slot) : slot === objectProperty;
}

/** Returns the slot of the name between `start` and `end`, or a negative number if its position is not stored. */
export function findPositionIndex(names: NameTable, bytes: Buffer, start: number, end: number): number {
  const candidates = names[end - start];
  if (candidates === undefined) return -1;
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index];
    if (candidate !== undefined && isWritten(candidate.bytes, bytes, start)) return candidate.slot;
  }
  return -1;
}

function isWritten(name: Buffer, bytes: Buffer, start: number): boolean {
  for (let index = 0; index < name.length; index++) if (name[index] !== bytes[start + index]) return false;
  return true;
}

/** Event fields that are copied unchanged from the request's JSON to the record. */
export interface RawFields {
  json: Buffer;
  properties: RawValue | null;
  $set: RawValue | null;
  $set_once: RawValue | null;
  $unset: RawValue | null;
}

export interface RawValue {
  start: number;
  end: number;
}

const slots = {
  properties: getPositionIndex('properties'),
  $set: getPositionIndex('$set'),
  $set_once: getPositionIndex('$set_once'),
  $unset: getPositionIndex('$unset'),
  event: getPositionIndex('event'),
  distinct_id: getPositionIndex('distinct_id'),
  $distinct_id: getPositionIndex('$distinct_id'),
  uuid: getPositionIndex('uuid'),
  timestamp: getPositionIndex('timestamp'),
  offset: getPositionIndex('offset'),
  api_key: getPositionIndex('api_key'),
  token: getPositionIndex('token'),
  $token: getPositionIndex('$token'),
};

function readRawFields(json: Buffer, from: Int32Array, base: number): RawFields {
  return {
    json,
    properties: rawValue(json, from, base + slots.properties),
    $set: rawValue(json, from, base + slots.$set),
    $set_once: rawValue(json, from, base + slots.$set_once),
    $unset: rawValue(json, from, base + slots.$unset),
  };
}

/** Returns null if the field is missing or null. */
function rawValue(json: Buffer, from: Int32Array, at: number): RawValue | null {
  const start = from[at] ?? 0;
  return start === 0 || json[start] === 0x6e ? null : { start, end: from[at + 1] ?? 0 };
}

/** Parses the fields of an event that cannot be copied unchanged. */
export function parseRawFields({ json, properties, $set, $set_once, $unset }: RawFields) {
  const parse = (value: RawValue | null) =>
    value === null ? undefined : JSON.parse(json.toString('utf8', value.start, value.end));
  return {
    properties: (parse(properties) ?? {}) as JsonObject,
    $set: parse($set) as JsonObject | undefined,
    $set_once: parse($set_once) as JsonObject | undefined,
    $unset: parse($unset) as unknown,
  };
}

/** Placeholder for an object that is copied without being parsed. */
const unparsed: JsonObject = Object.freeze({});

/**
 * Reads an event at the positions that a scan has found. `properties` contains only the properties that the gateway
 * reads. `raw` contains the positions of all properties, `$set`, `$set_once` and `$unset`. Returns fields with a wrong
 * type unchanged, so that the validation can report them.
 */
export function readScannedEvent(json: Buffer, from: Int32Array, base: number) {
  const read = (slot: number) => readValue(json, from, base + slot);
  const readObject = (slot: number) => (isObjectAt(json, from, base + slot) ? unparsed : read(slot));
  return {
    event: read(slots.event),
    distinct_id: read(slots.distinct_id),
    $distinct_id: read(slots.$distinct_id),
    uuid: read(slots.uuid),
    timestamp: read(slots.timestamp),
    offset: read(slots.offset),
    properties: isObjectAt(json, from, base + slots.properties)
      ? readProperties(json, from, base)
      : read(slots.properties),
    $set: readObject(slots.$set),
    $set_once: readObject(slots.$set_once),
    api_key: read(slots.api_key),
    token: read(slots.token),
    $token: read(slots.$token),
    raw: readRawFields(json, from, base),
  };
}

export function readScannedEnvelope(json: Buffer, from: Int32Array): Fields {
  const read = (name: EventField) => readValue(json, from, getPositionIndex(name));
  return {
    api_key: read('api_key'),
    token: read('token'),
    $token: read('$token'),
    historical_migration: read('historical_migration'),
    sent_at: read('sent_at'),
    sentAt: read('sentAt'),
  };
}

function readProperties(json: Buffer, from: Int32Array, base: number): JsonObject {
  let properties = unparsed;
  for (let index = 0; index < propertySlots.length; index++) {
    const property = propertySlots[index];
    if (property === undefined || from[base + property.slot] === 0) continue;
    if (properties === unparsed) properties = {};
    properties[property.name] = readValue(json, from, base + property.slot);
  }
  return properties;
}

function isObjectAt(json: Buffer, from: Int32Array, at: number): boolean {
  const start = from[at] ?? 0;
  return start !== 0 && json[start] === 0x7b;
}

/** Parses a field. Returns undefined if it is missing. @throws the error of `requireParsableLength` */
function readValue(json: Buffer, from: Int32Array, at: number): unknown {
  const start = from[at] ?? 0;
  if (start === 0) return undefined;
  const end = from[at + 1] ?? 0;
  requireParsableLength(end - start);
  if (json[start] === 0x22) {
    const text = json.toString('utf8', start + 1, end - 1);
    if (!text.includes('\\')) return text;
  }
  return JSON.parse(json.toString('utf8', start, end));
}
