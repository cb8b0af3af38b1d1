// Finds a request's first invalid field and creates its error message.

import { isObject } from '@millrace/contracts';
import type { TSchema } from 'typebox';
import { findSchemaFailure, type SchemaFailure } from './compile.ts';
import { isNullable, shapeOf, typeOf, withoutNull } from './schema-shape.ts';

export interface FieldError {
  code: string;
  detail: string;
  /** The keys and indexes that lead to the invalid value. Empty if the whole body is invalid. */
  path: string[];
}

/**
 * Returns the first invalid field in the order of the schema, with its code and message from docs/api/README.md#errors.
 * Returns null if all fields are valid.
 */
export function findFieldError(schema: TSchema, value: unknown, path: string[] = []): FieldError | null {
  if (value === null) {
    if (isNullable(schema)) return null;
    const detail = path.length === 0 ? 'No data provided' : 'This field may not be null.';
    return { code: 'null', detail, path };
  }
  const inner = withoutNull(schema);
  return errorInFields(inner, value, path) ?? errorInItems(inner, value, path) ?? errorOfLeaf(inner, value, path);
}

function errorInFields(schema: TSchema, value: unknown, path: string[]): FieldError | null {
  const { properties, required = [] } = shapeOf(schema);
  if (!properties || !isObject(value)) return null;
  for (const [name, fieldSchema] of Object.entries(properties)) {
    const field = value[name];
    if (field !== undefined) {
      const error = findFieldError(fieldSchema, field, [...path, name]);
      if (error) return error;
    } else if (required.includes(name)) {
      return { code: 'required', detail: 'This field is required.', path: [...path, name] };
    }
  }
  return null;
}

function errorInItems(schema: TSchema, value: unknown, path: string[]): FieldError | null {
  const { items } = shapeOf(schema);
  if (!items || !Array.isArray(value)) return null;
  for (const [index, item] of value.entries()) {
    const error = findFieldError(items, item, [...path, String(index)]);
    if (error) return error;
  }
  return null;
}

function errorOfLeaf(schema: TSchema, value: unknown, path: string[]): FieldError | null {
  const failure = findSchemaFailure(schema, value);
  if (failure?.keyword === 'additionalProperties') {
    const name = String(failure.params.additionalProperty).slice(0, 100);
    return { code: 'invalid_input', detail: 'Unknown field.', path: [...path, name] };
  }
  return failure && { ...sentence(schema, failure, value), path };
}

function sentence(schema: TSchema, { keyword, params }: SchemaFailure, value: unknown) {
  const limit = params.limit;
  switch (keyword) {
    case 'type':
      return wrongType(schema, value);
    case 'enum':
    case 'const':
    case 'anyOf':
      return { code: 'invalid_choice', detail: `"${brief(value)}" is not a valid choice.${adviceOnChoices(schema)}` };
    case 'minLength':
      return value === ''
        ? { code: 'blank', detail: 'This field may not be blank.' }
        : { code: 'min_length', detail: `Ensure this field has at least ${limit} characters.` };
    case 'maxLength':
      return { code: 'max_length', detail: `Ensure this field has no more than ${limit} characters.` };
    case 'minItems':
      return { code: 'min_length', detail: `Ensure this field has at least ${limit} elements.` };
    case 'maxItems':
      return { code: 'max_length', detail: `Ensure this field has no more than ${limit} elements.` };
    case 'minimum':
      return { code: 'min_value', detail: `Ensure this value is greater than or equal to ${limit}.` };
    case 'maximum':
      return { code: 'max_value', detail: `Ensure this value is less than or equal to ${limit}.` };
    case 'format':
      return { code: 'invalid_input', detail: formatSentences[String(params.format)] ?? 'Enter a valid value.' };
    default:
      return { code: 'invalid_input', detail: 'Enter a valid value.' };
  }
}

const formatSentences: Record<string, string> = {
  email: 'Enter a valid email address.',
  uri: 'Enter a valid URL.',
  uuid: 'Must be a valid UUID.',
  'date-time':
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
};

function wrongType(schema: TSchema, value: unknown) {
  switch (typeOf(schema)) {
    case 'string':
      return { code: 'invalid_input', detail: 'Not a valid string.' };
    case 'boolean':
      return { code: 'invalid_input', detail: 'Must be a valid boolean.' };
    case 'integer':
      if (shapeOf(schema)['x-reference']) {
        const detail = `Incorrect type. Expected pk value, received ${pythonTypeName(value)}.`;
        return { code: 'incorrect_type', detail };
      }
      return { code: 'invalid_input', detail: 'A valid integer is required.' };
    case 'number':
      return { code: 'invalid_input', detail: 'A valid number is required.' };
    case 'array':
      return {
        code: 'not_a_list',
        detail: `Expected a list of items but got type "${pythonTypeName(value)}". Send a JSON array.`,
      };
    case 'object':
      return shapeOf(schema).properties
        ? {
            code: 'invalid_input',
            detail: `Invalid data. Expected a dictionary, but got ${pythonTypeName(value)}. Send a JSON object.`,
          }
        : {
            code: 'not_a_dict',
            detail: `Expected a dictionary of items but got type "${pythonTypeName(value)}". Send a JSON object.`,
          };
    default:
      return { code: 'invalid_input', detail: 'Enter a valid value.' };
  }
}

const maxChoicesNamed = 20;

function adviceOnChoices(schema: TSchema): string {
  const choices = choicesOf(schema).filter((choice) => choice !== null && choice !== '');
  return choices.length === 0 || choices.length > maxChoicesNamed ? '' : ` Choose one of: ${choices.join(', ')}.`;
}

/** Returns all values that a schema accepts, or an empty list if it does not enumerate them. */
function choicesOf(schema: TSchema): unknown[] {
  const { enum: choices, anyOf } = shapeOf(schema);
  if (anyOf) {
    const ofBranches = anyOf.map(choicesOf);
    return ofBranches.some((some) => some.length === 0) ? [] : ofBranches.flat();
  }
  return choices ?? { boolean: [true, false], null: [null] }[typeOf(schema) ?? ''] ?? [];
}

/**
 * Returns the Python name of a type. PostHog's error messages contain these names, and existing clients match the
 * beginning of the messages.
 */
function pythonTypeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    default:
      return 'dict';
  }
}

function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
