import type { JsonObject } from '@millrace/contracts';
import { overlaid, setOwn, withoutKeys } from './json.ts';

/**
 * Properties of a person or a group while a batch changes them. Five hundred events of a hundred bytes may each change
 * the same hundreds of kilobytes in one batch. So the properties are changed in place; their size is measured once and
 * then corrected by each change.
 */
export interface SizedProperties {
  properties: JsonObject;
  /** True when an event's row or another batch holds the same object: it is copied before it is changed. */
  areShared?: boolean;
  /** Absent until somebody has asked. */
  size?: PropertiesSize;
}

interface PropertiesSize {
  /** Bytes as JSON; at most, unless `isExact`. */
  bytes: number;
  isExact: boolean;
}

/** A change of properties: `put` is set, then `removed` is deleted, which all exist. No key is in both, none twice. */
export interface PropertyChange {
  put: JsonObject;
  removed: readonly string[];
}

export const noChange: PropertyChange = { put: Object.freeze({}), removed: [] };

/**
 * Bytes of the properties as JSON after a change, which is not made. Exact when they are more than `limit`. Else it may
 * be an upper bound, which is found at once and enough for nearly all.
 */
export function bytesAfter(sized: SizedProperties, change: PropertyChange, limit: number): number {
  const bound = boundOf(sized) + maxBytesOf(change.put);
  if (bound <= limit) return bound;
  measure(sized);
  return exactBytesAfter(sized, change);
}

/** An upper bound of the bytes. */
export function boundOf(sized: SizedProperties): number {
  sized.size ??= { bytes: maxBytesOf(sized.properties), isExact: false };
  return sized.size.bytes;
}

/**
 * About what the properties take as JSON. The upper bound assumes that all text is escaped; plain text takes a sixth of
 * that.
 */
export function roughBytes(sized: SizedProperties): number {
  const bound = boundOf(sized);
  return sized.size?.isExact ? bound : bound / 6;
}

/** Makes a change. */
export function change(sized: SizedProperties, { put, removed }: PropertyChange): void {
  if (sized.size !== undefined) {
    const { isExact } = sized.size;
    const bytes = isExact ? exactBytesAfter(sized, { put, removed }) : sized.size.bytes + maxBytesOf(put);
    sized.size = { bytes, isExact };
  }
  if (sized.areShared) replaceProperties(sized, { ...sized.properties }, sized.size);
  for (const key of Object.keys(put)) setOwn(sized.properties, key, put[key]);
  for (const key of removed) delete sized.properties[key];
}

/** The properties as they would be; a new object. */
export function changed(properties: JsonObject, { put, removed }: PropertyChange): JsonObject {
  const after = overlaid(properties, put);
  return removed.length === 0 ? after : withoutKeys(after, new Set(removed));
}

/** Replaces the properties by others, which nobody else may change. */
export function replaceProperties(sized: SizedProperties, properties: JsonObject, size?: PropertiesSize): void {
  sized.properties = properties;
  sized.areShared = false;
  if (size === undefined) delete sized.size;
  else sized.size = size;
}

function measure(sized: SizedProperties): void {
  if (sized.size?.isExact) return;
  const bytes = Buffer.byteLength(JSON.stringify(sized.properties), 'utf8');
  // Each member counts with a comma, but the first has none.
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

/** With the colon and a comma. */
function memberBytes(key: string, value: unknown): number {
  return Buffer.byteLength(JSON.stringify({ [key]: value }), 'utf8') - 1;
}

/** An upper bound of the JSON size: an escaped UTF-16 unit takes at most six bytes, a number at most 25. */
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
