import { objectFields, objectProperties } from './empty-objects.ts';

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
export type PropertyField = (typeof propertyFields)[number];

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

/** Whether the value of a name is an object, or nothing (empty-objects.ts). */
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
