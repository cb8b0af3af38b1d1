/** What is made of a schema once: the check of a value when it is first used, and at start the copy of its declared fields. */

import { isObject } from '@millrace/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { parseDateTime } from './date-time.ts';
import { shapeOf, withoutNull } from './schema-shape.ts';

/** Annotation of a query parameter whose bad values fall back to the default instead of being refused. */
const lenientKeyword = 'x-lenient';
/** Annotation of the number of another record (see `SchemaShape`). */
const referenceKeyword = 'x-reference';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false });
addFormats.default(ajv);
ajv.addFormat('date-time', (text: string) => parseDateTime(text) !== null);
ajv.addVocabulary([lenientKeyword, referenceKeyword]);

export interface SchemaFailure {
  keyword: string;
  params: Record<string, unknown>;
}

/** What keeps a schema from being used, or null. Compiling hundreds is half of a start, so that this is asked by tests. */
export function schemaProblem(schema: TSchema): string | null {
  try {
    ajv.compile(schema);
    return null;
  } catch (error) {
    return String((error as Error).message);
  }
}

/** The first failure of `value` against `schema` in ajv's own order, or null. Compiled once per schema object. */
export function schemaFailure(schema: TSchema, value: unknown): SchemaFailure | null {
  const validate = ajv.compile(schema);
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  return { keyword: error?.keyword ?? 'invalid', params: error?.params ?? {} };
}

/** Where and how `value` fails, for a developer reading a failed test; null when it does not. */
export function describeSchemaFailure(schema: TSchema, value: unknown): string | null {
  const validate = ajv.compile(schema);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

/** Copies the declared part of a value. */
type Serializer = (value: unknown) => unknown;

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
  const list = anyOf?.find((branch) => shapeOf(branch).items);
  const object = anyOf?.find((branch) => shapeOf(branch).properties);
  if (anyOf?.length === 2 && list && object) {
    const [ofList, ofObject] = [compileSerializer(list), compileSerializer(object)];
    return (value) => (Array.isArray(value) ? ofList : ofObject)(value);
  }
  if (anyOf?.some((branch) => shapeOf(branch).properties)) {
    throw new Error('A response schema must not contain a union of several objects.');
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
