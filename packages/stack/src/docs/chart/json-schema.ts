/** A JSON Schema, or a part of one. */
export type JsonSchema = { [keyword: string]: unknown };

export const text: JsonSchema = { type: 'string' };
export const flag: JsonSchema = { type: 'boolean' };
export const texts: JsonSchema = { type: 'array', items: text };
/** Passed on to Kubernetes, which knows what may be in it. */
export const anyMap: JsonSchema = { type: 'object' };
export const anyMaps: JsonSchema = { type: 'array', items: anyMap };
/** Labels and annotations: a number or `true` without quotes is what Kubernetes refuses. */
export const textMap: JsonSchema = { type: 'object', additionalProperties: text };
export const port: JsonSchema = whole(1, 65_535);

export function whole(minimum: number, maximum?: number): JsonSchema {
  return { type: 'integer', minimum, maximum };
}

export function oneOf(...allowed: (string | null)[]): JsonSchema {
  return { enum: allowed };
}

/** An object with these fields and no others, so that a misspelt one is named. */
export function object(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', additionalProperties: false, properties };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function orNull(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema.type, 'null'] };
}
