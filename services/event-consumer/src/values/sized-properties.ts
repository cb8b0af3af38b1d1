import type { JsonObject } from '@millrace/contracts';
import { mergeObjects, omitKeys, setOwn } from './json.ts';

/**
 * The properties of a person or a group while a batch changes them. In one batch, five hundred events of a hundred
 * bytes can each change the same hundreds of kilobytes. The properties are therefore changed in place, and their size
 * is measured once and then adjusted by each change.
 */
export interface SizedProperties {
  properties: JsonObject;
  /**
   * Whether an event's row or a different batch refers to the same object. If so, the object must be copied before a
   * change.
   */
  areShared?: boolean;
  size?: PropertiesSize;
}

interface PropertiesSize {
  /** The size as JSON in bytes, or an upper bound if `isExact` is false. */
  bytes: number;
  isExact: boolean;
}

/**
 * A change to properties: sets those in `put` and deletes the keys in `removed`. All of these keys exist. No key is in
 * both or occurs twice.
 */
export interface PropertyChange {
  put: JsonObject;
  removed: readonly string[];
}

export const noChange: PropertyChange = { put: Object.freeze({}), removed: [] };

/**
 * Returns the size in bytes as JSON that the properties would have after a change. A result above `limit` is exact. A
 * lower result may be an upper bound, which is fast to compute and nearly always enough.
 */
export function sizeAfterChange(sized: SizedProperties, change: PropertyChange, limit: number): number {
  const bound = sizeUpperBound(sized) + maxBytesOf(change.put);
  if (bound <= limit) return bound;
  measure(sized);
  return exactBytesAfter(sized, change);
}

export function sizeUpperBound(sized: SizedProperties): number {
  sized.size ??= { bytes: maxBytesOf(sized.properties), isExact: false };
  return sized.size.bytes;
}

/**
 * Returns the approximate size as JSON in bytes. Without an exact size, returns a sixth of the upper bound, which
 * assumes that every character is escaped.
 */
export function approximateSize(sized: SizedProperties): number {
  const bound = sizeUpperBound(sized);
  return sized.size?.isExact ? bound : bound / 6;
}

export function applyChange(sized: SizedProperties, { put, removed }: PropertyChange): void {
  if (sized.size !== undefined) {
    const { isExact } = sized.size;
    const bytes = isExact ? exactBytesAfter(sized, { put, removed }) : sized.size.bytes + maxBytesOf(put);
    sized.size = { bytes, isExact };
  }
  if (sized.areShared) replaceProperties(sized, { ...sized.properties }, sized.size);
  for (const key of Object.keys(put)) setOwn(sized.properties, key, put[key]);
  for (const key of removed) delete sized.properties[key];
}

export function toChangedProperties(properties: JsonObject, { put, removed }: PropertyChange): JsonObject {
  const after = mergeObjects(properties, put);
  return removed.length === 0 ? after : omitKeys(after, new Set(removed));
}

/** Replaces the properties with an object that no other code modifies. */
export function replaceProperties(sized: SizedProperties, properties: JsonObject, size?: PropertiesSize): void {
  sized.properties = properties;
  sized.areShared = false;
  if (size === undefined) delete sized.size;
  else sized.size = size;
}

function measure(sized: SizedProperties): void {
  if (sized.size?.isExact) return;
  const bytes = Buffer.byteLength(JSON.stringify(sized.properties), 'utf8');
  // Each member is counted with a comma, but the first member has none.
  sized.size = { bytes: bytes === 2 ? 1 : bytes, isExact: true };
}

function exactBytesAfter({ properties, size }: SizedProperties, { put, removed }: PropertyChange): number {
  let bytes = size?.bytes ?? 0;
  for (const key of Object.keys(put)) {
    if (Object.hasOwn(properties, key)) bytes -= memberBytes(key, properties[key]);
    bytes += memberBytes(key, put[key]);
  }
  for (const key of removed) bytes -= memberBytes(key, properties[key]);
  return bytes;
}

function memberBytes(key: string, value: unknown): number {
  return Buffer.byteLength(JSON.stringify({ [key]: value }), 'utf8') - 1;
}

/**
 * Returns an upper bound of the JSON size. An escaped UTF-16 code unit takes at most six bytes, and a number at most
 * 25.
 */
function maxBytesOf(value: unknown): number {
  if (typeof value === 'string') return 6 * value.length + 3;
  if (typeof value !== 'object' || value === null) return 25;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const child of value) bytes += maxBytesOf(child) + 1;
  } else {
    for (const key of Object.keys(value)) bytes += 6 * key.length + 4 + maxBytesOf(Reflect.get(value, key));
  }
  return bytes;
}
