// Reading what a client sent as a query: what is unknown, wrong or unstorable in it is named by its path.

import type { TObject } from 'typebox';
import { Errors } from 'typebox/value';
import { type Query, queryKinds } from './query.ts';
import { isRecord, queryError } from './query-parts.ts';

/** Nodes that say how to draw what their `source` asks. */
const wrappers = new Set(['InsightVizNode', 'DataTableNode', 'DataVisualizationNode']);

/**
 * Reads a query as clients send it: the source is taken out of what says how to draw it, and fields that are null count as
 * absent.
 * @throws AppError `invalid` that names the part: `series.1.math_property`.
 */
export function parseQuery(sent: unknown): Query {
  return readQuery(sent, { refusesUnknown: true });
}

/**
 * Reads a query that is stored and not run: a client newer than Millrace may have written it, so fields that are not known are left alone.
 * @throws AppError `invalid` that names a known field with an impossible value.
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
  if (!isRecord(query)) throw queryError('', 'Expected an object with a `kind`.');
  const kind = String(query.kind);
  // A value of an SQL query can be null.
  if (kind === 'HogQLQuery' && isRecord(source) && isRecord(source.values)) query.values = source.values;
  refuseUnstorable(query, []);
  if (!Object.hasOwn(queryKinds, kind)) {
    throw queryError(
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

/** Engines refuse such texts, or read others in their place. */
function refuseUnstorable(value: unknown, path: string[]): void {
  if (typeof value === 'string' && unstorable.test(value))
    throw queryError(
      path.join('.'),
      'The string contains characters that cannot be stored (null characters or unpaired surrogates).',
    );
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (unstorable.test(name))
      throw queryError(
        path.join('.'),
        'A field name contains characters that cannot be stored (null characters or unpaired surrogates).',
      );
    refuseUnstorable(part, [...path, name]);
  }
}

const unstorable = /\0|\p{Surrogate}/u;

/** A field that is null is one that was left out; what stands in lists stays. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

/** @throws AppError naming the first thing that does not fit; of a union, the member of the same `kind` is what has to fit. */
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
      throw queryError(
        [...path, name, 'kind'].join('.'),
        `"${String(source.kind).slice(0, 100)}" is not supported here.`,
      );
    requireKnown(member, source, { path: [...path, name], refusesUnknown });
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(schema.properties, name));
  if (refusesUnknown && unknown !== undefined)
    throw queryError([...path, unknown.slice(0, 100)].join('.'), 'Unknown field.');
  // What is below a field that is not known is `boolean`, and that there is such a field is `additionalProperties`. Some clients leave out the
  // kind of a node.
  const isOfUnknown = ({ keyword, params }: Failure) => {
    const { requiredProperties = [] } = params as { requiredProperties?: string[] };
    return keyword === 'boolean' || keyword === 'additionalProperties' || String(requiredProperties) === 'kind';
  };
  const errors = [...Errors(schema, value)].filter((error) => refusesUnknown || !isOfUnknown(error));
  // The wrong kind of a node explains what else is wrong with it.
  const error = errors.find(({ keyword }) => keyword === 'const') ?? errors[0];
  if (error === undefined) return;
  throw queryError([...path, ...placeOf(error)].join('.'), sentenceOf(error));
}

interface Failure {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

/** The field, or the one that is missing in it. */
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
