// Parses client queries. Errors contain the path of the field that is unknown or invalid, or whose value cannot be
// stored.

import type { TObject } from 'typebox';
import { Errors } from 'typebox/value';
import { type Query, queryKinds } from './query.ts';
import { createQueryError, isRecord } from './query-parts.ts';

/** Kinds of nodes that describe how to visualize their `source`. */
const wrappers = new Set(['InsightVizNode', 'DataTableNode', 'DataVisualizationNode']);

/**
 * Parses a query. Removes its visualization wrappers, and treats null fields as absent.
 * @throws AppError `invalid` that names the field, for example `series.1.math_property`.
 */
export function parseQuery(sent: unknown): Query {
  return readQuery(sent, { refusesUnknown: true });
}

/**
 * Parses a query that will be stored without being run. Ignores unknown fields, because the client may be newer than
 * this version of Millrace.
 * @throws AppError `invalid` that names a known field with an invalid value.
 */
export function readStoredQuery(sent: unknown): Query {
  return readQuery(sent, { refusesUnknown: false });
}

interface Strictness {
  refusesUnknown: boolean;
}

function readQuery(sent: unknown, strictness: Strictness): Query {
  const source = unwrap(sent);
  const query = withoutNulls(source);
  if (!isRecord(query)) throw createQueryError('', 'Expected an object with a `kind`.');
  const kind = String(query.kind);
  // Keep the nulls in the `values` of an SQL query, because a placeholder's value can be null.
  if (kind === 'HogQLQuery' && isRecord(source) && isRecord(source.values)) query.values = source.values;
  refuseUnstorable(query, []);
  if (!Object.hasOwn(queryKinds, kind)) {
    throw createQueryError(
      'kind',
      `"${kind.slice(0, 100)}" is not supported. Choose one of: ${Object.keys(queryKinds).join(', ')}.`,
    );
  }
  requireKnown(queryKinds[kind as Query['kind']], query, { path: [], ...strictness });
  return query as Query;
}

function unwrap(sent: unknown): unknown {
  return isRecord(sent) && wrappers.has(String(sent.kind)) ? unwrap(sent.source) : sent;
}

/** Rejects strings that an engine would reject or change. */
function refuseUnstorable(value: unknown, path: string[]): void {
  if (typeof value === 'string' && unstorable.test(value))
    throw createQueryError(
      path.join('.'),
      'The string contains characters that cannot be stored (null characters or unpaired surrogates).',
    );
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (unstorable.test(name))
      throw createQueryError(
        path.join('.'),
        'A field name contains characters that cannot be stored (null characters or unpaired surrogates).',
      );
    refuseUnstorable(part, [...path, name]);
  }
}

const unstorable = /\0|\p{Surrogate}/u;

/** Removes null fields from objects. Keeps null elements in lists. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

/**
 * Checks a value against its schema. If the schema is a union, the value must match the member with the same `kind`.
 * @throws AppError that names the first field that does not match
 */
function requireKnown(
  schema: TObject,
  value: Record<string, unknown>,
  { path, refusesUnknown }: Strictness & { path: string[] },
): void {
  for (const [name, field] of Object.entries(schema.properties) as [string, { anyOf?: TObject[] }][]) {
    const source = value[name];
    if (name !== 'source' || !isRecord(source)) continue;
    const members = field.anyOf ?? [field as TObject];
    const member = members.find(
      (one) => (one.properties.kind as { const?: string } | undefined)?.const === source.kind,
    );
    if (member === undefined)
      throw createQueryError(
        [...path, name, 'kind'].join('.'),
        `"${String(source.kind).slice(0, 100)}" is not supported here.`,
      );
    requireKnown(member, source, { path: [...path, name], refusesUnknown });
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(schema.properties, name));
  if (refusesUnknown && unknown !== undefined)
    throw createQueryError([...path, unknown.slice(0, 100)].join('.'), 'Unknown field.');
  // Schema errors with the keyword `boolean` or `additionalProperties` mean that a field is unknown. A missing `kind`
  // is treated in the same way, because some clients omit it.
  const isOfUnknown = ({ keyword, params }: Failure) => {
    const { requiredProperties = [] } = params as { requiredProperties?: string[] };
    return keyword === 'boolean' || keyword === 'additionalProperties' || String(requiredProperties) === 'kind';
  };
  const errors = [...Errors(schema, value)].filter((error) => refusesUnknown || !isOfUnknown(error));
  // Report an invalid node kind first, because it may cause the other errors.
  const error = errors.find(({ keyword }) => keyword === 'const') ?? errors[0];
  if (error === undefined) return;
  throw createQueryError([...path, ...placeOf(error)].join('.'), sentenceOf(error));
}

interface Failure {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

/** Returns the path of the invalid or missing field. */
function placeOf({ instancePath, params }: Failure): string[] {
  const { requiredProperties = [] } = params as { requiredProperties?: string[] };
  return [...instancePath.split('/').slice(1), ...requiredProperties.slice(0, 1)];
}

function sentenceOf({ keyword, params, message }: Failure): string {
  const { allowedValue, allowedValues } = params as { allowedValue?: unknown; allowedValues?: unknown[] };
  switch (keyword) {
    case 'boolean':
      return 'Unknown field.';
    case 'required':
      return 'This field is required.';
    case 'const':
      return `Only ${String(allowedValue)} is supported here.`;
    case 'enum':
      return `Choose one of: ${(allowedValues ?? []).join(', ')}.`;
    default:
      return `This field ${message}.`;
  }
}
