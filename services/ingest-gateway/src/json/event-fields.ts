import { isObject, type JsonObject } from '@millrace/contracts';

/**
 * PHP writes an array without entries as `[]`, also where an object is meant, and so does every SDK in it. In these
 * fields it is an empty object.
 */
const objectFields = ['properties', '$set', '$set_once'] as const;
const objectProperties = ['$set', '$set_once', '$groups', '$group_set'] as const;

type Fields = Record<string, unknown>;

/** Puts empty objects where empty arrays cannot be meant, in place. */
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
 * The fields of a request that the gateway looks at; everything else in an event is passed on as it was written. For
 * each field a scan keeps the start and the end of its value: two numbers, in the slot that belongs to the field.
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

/** Those of the object around a batch, beside its keys. */
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

export type EventField = (typeof eventFields)[number] | (typeof envelopeFields)[number];
type PropertyField = (typeof propertyFields)[number];

const allFields = [...eventFields, ...envelopeFields];
/** Numbers kept of one event. */
export const slotsPerEvent = 2 * (allFields.length + propertyFields.length);

const slotByField = new Map<string, number>(allFields.map((name, index) => [name, 2 * index]));
const slotByProperty = new Map<string, number>(
  propertyFields.map((name, index) => [name, 2 * (allFields.length + index)]),
);

/** Where the value of a field is kept. */
export function slotOf(name: EventField): number {
  return slotByField.get(name) ?? 0;
}

export const propertySlots: readonly { name: PropertyField; slot: number }[] = propertyFields.map((name) => ({
  name,
  slot: slotByProperty.get(name) ?? 0,
}));

/** Names by their length, which alone rules out most names in an event. */
export type NameTable = readonly (readonly { bytes: Buffer; slot: number }[])[];

function tableOf(slots: ReadonlyMap<string, number>): NameTable {
  const table: { bytes: Buffer; slot: number }[][] = Array.from({ length: 32 }, () => []);
  for (const [name, slot] of slots) table[name.length]?.push({ bytes: Buffer.from(name), slot });
  return table;
}

/** Instead of a slot, for properties that are not kept but must not hold an empty array. */
const objectProperty = -2;

export const fieldNames = tableOf(slotByField);
export const propertyNames = tableOf(
  new Map([...slotByProperty, ...objectProperties.map((name) => [name, objectProperty] as const)]),
);

const objectSlots = new Set(objectFields.map(slotOf));

/** Whether the value of a name is an object, or nothing (`repairEmptyObjects`). */
export function isObjectSlot(names: NameTable, slot: number): boolean {
  return names === fieldNames ? objectSlots.has(slot) : slot === objectProperty;
}

/** The slot of the name written from `start` to `end`; less than 0 for a name whose value is not kept. */
export function findSlot(names: NameTable, bytes: Buffer, start: number, end: number): number {
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

/** The fields of an event that go into its record as they were written, as positions in the request's JSON. */
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
  properties: slotOf('properties'),
  $set: slotOf('$set'),
  $set_once: slotOf('$set_once'),
  $unset: slotOf('$unset'),
};

export function readRawFields(json: Buffer, from: Int32Array, base: number): RawFields {
  return {
    json,
    properties: rawValue(json, from, base + slots.properties),
    $set: rawValue(json, from, base + slots.$set),
    $set_once: rawValue(json, from, base + slots.$set_once),
    $unset: rawValue(json, from, base + slots.$unset),
  };
}

/** Null for what is absent or null. */
function rawValue(json: Buffer, from: Int32Array, at: number): RawValue | null {
  const start = from[at] ?? 0;
  return start === 0 || json[start] === 0x6e ? null : { start, end: from[at + 1] ?? 0 };
}

/** The fields as a parser gives them, for an event that cannot be passed on as it was written. */
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
