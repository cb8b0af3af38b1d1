import type { JsonObject } from '@millrace/contracts';
import { slotOf } from './event-fields.ts';

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
