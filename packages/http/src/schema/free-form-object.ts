import { Type } from 'typebox';

/** A JSON object with any keys, e.g. the properties of an event. Generated clients read it as a map. */
export function freeFormObject(options: { description?: string } = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}
