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
/** What requests and limits are counted in; null takes one away. */
const quantities: JsonSchema = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'null'], pattern: '^[0-9.]+([eE][-+]?[0-9]+|[numkMGTPE]i?)?$' },
};
export const resources: JsonSchema = object({
  requests: orNull(quantities),
  limits: orNull(quantities),
  claims: anyMaps,
});
/** Variables: a number or `true` without quotes is what Kubernetes refuses. */
export const variables: JsonSchema = {
  type: 'array',
  items: { ...object({ name: shaped('.'), value: text, valueFrom: anyMap }), required: ['name'] },
};
/** A network, as 10.0.0.0/8. */
export const network: JsonSchema = shaped('^[0-9a-fA-F:.]+/[0-9]{1,3}$');
/** A key of a secret or a configMap, or none. */
export const keyName: JsonSchema = shaped('^[-._a-zA-Z0-9]*$');
/** The name of an object of Kubernetes, or none. */
export const objectName: JsonSchema = shaped('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$');

export function shaped(pattern: string): JsonSchema {
  return { type: 'string', pattern };
}

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
