// Reads and builds JSON schemas. For example, finds a schema's type, or removes null from it.

import { type TSchema, Type } from 'typebox';

/** The JSON Schema keywords that this package uses. They are the properties of a TypeBox schema. */
export interface SchemaShape {
  type?: string | string[];
  properties?: Record<string, TSchema>;
  required?: string[];
  /** If false, an undeclared field is rejected with an error that names it. By default, it is dropped. */
  additionalProperties?: unknown;
  items?: TSchema;
  patternProperties?: Record<string, TSchema>;
  anyOf?: TSchema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  title?: string;
  'x-lenient'?: boolean;
  /** Whether the value is the ID of another record. If so, a value of the wrong type gets a special error message. */
  'x-reference'?: boolean;
}

export function shapeOf(schema: TSchema): SchemaShape {
  return schema as SchemaShape;
}

function isNullSchema(schema: TSchema): boolean {
  return shapeOf(schema).type === 'null';
}

export function isNullable(schema: TSchema): boolean {
  const shape = shapeOf(schema);
  if (Array.isArray(shape.type)) return shape.type.includes('null');
  if (shape.anyOf) return shape.anyOf.some((branch) => isNullSchema(branch) || isNullable(branch));
  if (shape.enum) return shape.enum.includes(null);
  return shape.type === 'null' || (shape.type === undefined && shape.const === undefined && !shape.properties);
}

/** Returns `X` for the schema `X | null`. Returns a union of several other types unchanged. */
export function withoutNull(schema: TSchema): TSchema {
  const branches = shapeOf(schema).anyOf?.filter((branch) => !isNullSchema(branch));
  return branches?.length === 1 && branches[0] ? branches[0] : schema;
}

export function typeOf(schema: TSchema): string | undefined {
  const { type } = shapeOf(schema);
  return Array.isArray(type) ? type.find((name) => name !== 'null') : type;
}

/**
 * Returns the schema of a JSON object with arbitrary keys, such as event properties. Generated clients treat it as a
 * map.
 */
export function freeFormObject(options: { description?: string } = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

export function orNull<S extends TSchema>(schema: S, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}
