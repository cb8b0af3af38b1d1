import { type TSchema, Type } from 'typebox';

/** The keywords of JSON Schema this package looks at; a TypeBox schema is such an object. */
export interface SchemaShape {
  type?: string | string[];
  properties?: Record<string, TSchema>;
  required?: string[];
  /** False: a field that is not declared is refused by its name, and not left out. */
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
  /** The number of another record: a wrong type is refused in the words for references. */
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

/**
 * The one schema a value that is not null must meet: the other branch of `X | null`. A union of several is returned
 * as it is, because nobody can say which branch was meant.
 */
export function withoutNull(schema: TSchema): TSchema {
  const branches = shapeOf(schema).anyOf?.filter((branch) => !isNullSchema(branch));
  return branches?.length === 1 && branches[0] ? branches[0] : schema;
}

/** The JSON type of a schema, null aside. */
export function typeOf(schema: TSchema): string | undefined {
  const { type } = shapeOf(schema);
  return Array.isArray(type) ? type.find((name) => name !== 'null') : type;
}

/** A JSON object with any keys, e.g. the properties of an event. Generated clients read it as a map. */
export function freeFormObject(options: { description?: string } = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

/** A value, or null where there is none. */
export function orNull<S extends TSchema>(schema: S, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}
