/** Parses request input according to its schema. Converts values as the schema allows, and then validates them. */

import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { Static, TSchema } from 'typebox';
import { findSchemaFailure } from './compile.ts';
import { parseDateTime } from './date-time.ts';
import { findFieldError } from './field-error.ts';
import { type SchemaShape, shapeOf, typeOf, withoutNull } from './schema-shape.ts';

/**
 * Parses a value of unknown type into a value of the schema's type.
 * @throws AppError `invalid` naming the first invalid field in the order of the schema
 */
export function parseInput<S extends TSchema>(schema: S, value: unknown, options: CoerceOptions): Static<S> {
  const coerced = coerce(schema, value, options);
  if (findSchemaFailure(schema, coerced) === null) return coerced as Static<S>;
  const error = findFieldError(schema, coerced) ?? { code: 'invalid_input', detail: 'Enter a valid value.', path: [] };
  throw new AppError('invalid', error.detail, {
    code: error.code,
    attr: error.path.length > 0 ? error.path.join('__') : null,
  });
}

const trueWords = new Set(['t', 'y', 'yes', 'true', 'on', '1']);
const falseWords = new Set(['f', 'n', 'no', 'false', 'off', '0']);

interface CoerceOptions {
  /** Whether to trim strings: true for bodies, and false for filters, because filters must match exactly. */
  trimStrings: boolean;
}

/**
 * Converts a value to the type in its schema, in cases where clients are known to be imprecise
 * (docs/api/README.md#requests). For example, converts numbers to strings, `"8"` to 8, `"yes"` to true, and a date to a
 * time. Leaves other values unchanged, so that validation rejects them. Drops undeclared fields, unless the schema
 * rejects them. Adds defaults.
 */
export function coerce(schema: TSchema, value: unknown, options: CoerceOptions): unknown {
  const shape = shapeOf(schema);
  if (value === undefined) return shape.default;
  if (shape['x-lenient']) return coerceLenient(schema, value);
  const inner = withoutNull(schema);
  if (inner !== schema) return value === null || isNullWord(inner, value) ? null : coerce(inner, value, options);
  if (value === null) return null;
  if (shape.enum) return coerceChoice(shape.enum, value);
  switch (typeOf(schema)) {
    case 'object':
      return isObject(value) ? coerceFields(shape, value, options) : value;
    case 'array':
      return coerceItems(shape.items, value, options);
    case 'string':
      return coerceString(value, shape.format, options);
    case 'integer':
    case 'number':
      return coerceNumber(value);
    case 'boolean':
      return coerceBoolean(value);
    default:
      return value;
  }
}

/** Returns true if a string represents null. HTML forms send such a string for a switch that is neither on nor off. */
function isNullWord(schema: TSchema, value: unknown): boolean {
  return typeOf(schema) === 'boolean' && (value === '' || /^null$/i.test(String(value)));
}

function coerceFields(
  { properties, additionalProperties }: SchemaShape,
  value: Record<string, unknown>,
  options: CoerceOptions,
) {
  if (!properties) return value;
  const fields = additionalProperties === false ? { ...value } : {};
  for (const [name, schema] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const coerced = coerce(schema, given, options);
    if (coerced !== undefined) fields[name] = coerced;
  }
  return fields;
}

function coerceItems(schema: TSchema | undefined, value: unknown, options: CoerceOptions): unknown {
  return schema && Array.isArray(value) ? value.map((item) => coerce(schema, item, options)) : value;
}

/**
 * Converts a value without throwing. A value above the maximum becomes the maximum. Any other invalid value becomes the
 * default.
 */
function coerceLenient(schema: TSchema, value: unknown): unknown {
  const shape = shapeOf(schema);
  const number = coerceNumber(value);
  if (typeof number === 'number' && shape.maximum !== undefined && number > shape.maximum) return shape.maximum;
  return findSchemaFailure(schema, number) === null ? number : shape.default;
}

function coerceString(value: unknown, format: string | undefined, { trimStrings }: CoerceOptions): unknown {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return value;
  // Passwords are not trimmed, because whitespace can be part of a password.
  const text = trimStrings && format !== 'password' ? value.trim() : value;
  if (format === 'uuid') return text.toLowerCase();
  if (format === 'date-time') return parseDateTime(text.trim())?.toISOString() ?? text;
  return text;
}

function coerceNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[+-]?\d+(\.\d+)?\s*$/.test(value)) return value;
  return Number(value);
}

function coerceBoolean(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const word = String(value).toLowerCase();
  return trueWords.has(word) ? true : falseWords.has(word) ? false : value;
}

function coerceChoice(choices: unknown[], value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const match = choices.find((choice) => choice !== null && String(choice) === String(value));
  return match ?? value;
}
