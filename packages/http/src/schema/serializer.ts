import { isObject } from '@millrace/contracts';
import type { TSchema } from 'typebox';
import { shapeOf, withoutNull } from './schema-shape.ts';

/** Copies the declared part of a value. */
export type Serializer = (value: unknown) => unknown;

/**
 * Compiles a schema into a copy function that knows only the declared fields: a column added to a row never leaks into
 * an answer by accident, and the order of keys is the schema's.
 *
 * @throws Error at start for a union of several objects, which could not be told apart.
 */
export function compileSerializer(schema: TSchema): Serializer {
  const inner = withoutNull(schema);
  if (inner !== schema) {
    const serialize = compileSerializer(inner);
    return (value) => (value === null ? null : serialize(value));
  }
  const { properties, items, anyOf } = shapeOf(schema);
  if (anyOf?.some((branch) => shapeOf(branch).properties)) {
    throw new Error('A response schema may not hold a union of several objects.');
  }
  if (properties) return compileFields(properties);
  if (items) {
    const serialize = compileSerializer(items);
    return (value) => (Array.isArray(value) ? value.map(serialize) : value);
  }
  return (value) => value;
}

function compileFields(properties: Record<string, TSchema>): Serializer {
  const fields = Object.entries(properties).map(([name, schema]) => [name, compileSerializer(schema)] as const);
  return (value) => {
    if (!isObject(value)) return value;
    const copy: Record<string, unknown> = {};
    for (const [name, serialize] of fields) {
      if (value[name] !== undefined) copy[name] = serialize(value[name]);
    }
    return copy;
  };
}
