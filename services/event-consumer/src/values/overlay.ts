import type { JsonObject } from '@millrace/contracts';
import { overlaid } from './json-object.ts';

/**
 * An object and what is added to it or replaced in it, kept apart. A few of an event's properties change on their way,
 * and copying all of them each time costs as much as the rules themselves: without it the consumer takes a fifth more time
 * per event (`npm run bench -- consumer --copy`). `under` belongs to the event and is never
 * changed.
 */
export interface Overlay {
  under: JsonObject;
  over: JsonObject;
}

export function propertyOf({ under, over }: Overlay, key: string): unknown {
  return Object.hasOwn(over, key) ? over[key] : under[key];
}

/** One object of both; not to be changed, as it may be `under` itself. */
export function flattened({ under, over }: Overlay): JsonObject {
  return isEmpty(over) ? under : overlaid(under, over);
}

export function isEmpty(object: JsonObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}
