/** Compiles schemas. Validators are compiled at their first use, and functions that copy declared fields at startup. */

import { isObject } from '@millrace/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { parseDateTime } from './date-time.ts';
import { shapeOf, withoutNull } from './schema-shape.ts';

/** Marks a query parameter whose invalid values are replaced with the default instead of rejected. */
const lenientKeyword = 'x-lenient';
const referenceKeyword = 'x-reference';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false });
addFormats.default(ajv);
ajv.addFormat('date-time', (text: string) => parseDateTime(text) !== null);
ajv.addVocabulary([lenientKeyword, referenceKeyword]);

export interface SchemaFailure {
  keyword: string;
  params: Record<string, unknown>;
}

/**
 * Returns why a schema cannot be used, or null if it is valid. Only tests call this function, because compiling
 * hundreds of schemas would take half of the startup time.
 */
export function findSchemaProblem(schema: TSchema): string | null {
  try {
    ajv.compile(schema);
    return null;
  } catch (error) {
    return String((error as Error).message);
  }
}

const validators = new WeakMap<TSchema, ValidateFunction>();
const validatorsByText = new Map<string, ValidateFunction>();

/**
 * Compiles one validator for all schemas with the same content, because about half of the schema objects are
 * duplicates.
 */
function validatorOf(schema: TSchema): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  const validate = validatorsByText.get(text) ?? ajv.compile(schema);
  validatorsByText.set(text, validate);
  validators.set(schema, validate);
  return validate;
}

/** Returns the first failure that ajv reports, or null if the value is valid. */
export function findSchemaFailure(schema: TSchema, value: unknown): SchemaFailure | null {
  const validate = validatorOf(schema);
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  return { keyword: error?.keyword ?? 'invalid', params: error?.params ?? {} };
}

/**
 * Explains to a developer who reads a failed test why `value` does not match the schema. Returns null if it matches.
 */
export function describeSchemaFailure(schema: TSchema, value: unknown): string | null {
  const validate = validatorOf(schema);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

type Serializer = (value: unknown) => unknown;

/**
 * Compiles a schema to a function that copies only the declared fields, in the order of the schema. A new database
 * column therefore never appears in a response by accident.
 * @throws Error at startup for a union of several objects, because the function could not choose between them
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
