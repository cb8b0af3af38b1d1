import { cutToCodePoints, eventNames } from '@millrace/contracts';
import type { ClientEvent } from './validate.ts';

const maxCodePoints = 200;

/**
 * The value that identifies the user, as sent; undefined when there is none. A null counts as absent, an empty text at
 * event level does not fall back to the properties.
 * (docs/wire-rules.md#distinct-ids)
 */
export function rawDistinctId(event: ClientEvent): unknown {
  const { properties } = event;
  return event.distinct_id ?? event.$distinct_id ?? properties?.distinct_id ?? properties?.$distinct_id ?? undefined;
}

/**
 * The distinct id in its whole length, or null when there is none that can be used: missing, empty or blank. Other values
 * than text become JSON text with sorted keys (cases F01-F11).
 */
export function readDistinctId(event: ClientEvent): string | null {
  const raw = rawDistinctId(event);
  if (raw === undefined) return null;
  const text = typeof raw === 'string' ? raw : sortedJson(raw);
  return text.trim() === '' ? null : text;
}

/** A distinct id as it is stored: more than 200 code points are cut (case F08). */
export function cutDistinctId(id: string): string {
  return cutToCodePoints(id, maxCodePoints);
}

/** The property in which a merge event names the other id. */
const otherIdProperty = new Map<string, string>([
  [eventNames.identify, '$anon_distinct_id'],
  [eventNames.createAlias, 'alias'],
  [eventNames.mergeDangerously, 'alias'],
]);

/** The other id of a merge event, as sent; undefined for any other event. */
export function rawOtherId({ event, properties }: ClientEvent): unknown {
  const property = otherIdProperty.get(String(event));
  return property === undefined ? undefined : properties?.[property];
}

/**
 * The property of a merge event in which the other id is too long, null when there is none. It is cut as distinct ids
 * are: the events of that id came under the cut one, so the whole one would name somebody who never sent anything.
 */
export function overlongOtherId(name: string, properties: Record<string, unknown>): string | null {
  const property = otherIdProperty.get(name);
  const id = property === undefined ? undefined : properties[property];
  if (property === undefined || typeof id !== 'string' || cutDistinctId(id) === id) return null;
  return property;
}

/** JSON with the keys of every object in order, so that equal objects give equal ids. */
function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${sortedJson(field)}`).join(',')}}`;
}
