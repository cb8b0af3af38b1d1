import type { JsonObject } from '@millrace/contracts';
import type { ClientEvent } from '../event/capture-schema.ts';
import { type EventField, propertySlots, slotOf } from '../event/event-fields.ts';
import { readRawFields } from '../event/raw-fields.ts';

const slots = {
  event: slotOf('event'),
  distinct_id: slotOf('distinct_id'),
  $distinct_id: slotOf('$distinct_id'),
  uuid: slotOf('uuid'),
  timestamp: slotOf('timestamp'),
  offset: slotOf('offset'),
  properties: slotOf('properties'),
  $set: slotOf('$set'),
  $set_once: slotOf('$set_once'),
  api_key: slotOf('api_key'),
  token: slotOf('token'),
  $token: slotOf('$token'),
};

/** Stands for an object that is passed on without being read. */
const unseen: JsonObject = Object.freeze({});

/**
 * An event with the fields the gateway looks at. Its properties hold only those it looks at; all properties, and those
 * to be set, are in `raw`. Fields of a wrong type are kept, for the validation to find.
 */
export function readScannedEvent(json: Buffer, from: Int32Array, base: number): ClientEvent & Record<string, unknown> {
  const read = (slot: number) => readValue(json, from, base + slot);
  return {
    event: read(slots.event),
    distinct_id: read(slots.distinct_id),
    $distinct_id: read(slots.$distinct_id),
    uuid: read(slots.uuid) as string,
    timestamp: read(slots.timestamp) as string | number,
    offset: read(slots.offset) as number,
    properties: (isObjectAt(json, from, base + slots.properties)
      ? readProperties(json, from, base)
      : read(slots.properties)) as JsonObject,
    $set: (isObjectAt(json, from, base + slots.$set) ? unseen : read(slots.$set)) as JsonObject,
    $set_once: (isObjectAt(json, from, base + slots.$set_once) ? unseen : read(slots.$set_once)) as JsonObject,
    api_key: read(slots.api_key),
    token: read(slots.token),
    $token: read(slots.$token),
    raw: readRawFields(json, from, base),
  };
}

/** What the object around a batch says. */
export function readEnvelope(json: Buffer, from: Int32Array): Record<string, unknown> {
  const read = (name: EventField) => readValue(json, from, slotOf(name));
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
  let properties = unseen;
  for (let index = 0; index < propertySlots.length; index++) {
    const property = propertySlots[index];
    if (property === undefined || from[base + property.slot] === 0) continue;
    if (properties === unseen) properties = {};
    properties[property.name] = readValue(json, from, base + property.slot);
  }
  return properties;
}

function isObjectAt(json: Buffer, from: Int32Array, at: number): boolean {
  const start = from[at] ?? 0;
  return start !== 0 && json[start] === 0x7b;
}

/** Undefined when the field is not there. */
function readValue(json: Buffer, from: Int32Array, at: number): unknown {
  const start = from[at] ?? 0;
  if (start === 0) return undefined;
  const end = from[at + 1] ?? 0;
  if (json[start] === 0x22) {
    const text = json.toString('utf8', start + 1, end - 1);
    if (!text.includes('\\')) return text;
  }
  return JSON.parse(json.toString('utf8', start, end));
}
