import { AppError } from '@millrace/errors';
import type { TSchema } from 'typebox';
import { checkJson } from '../schema/check-json.ts';
import { shapeOf, typeOf, withoutNull } from '../schema/schema-shape.ts';
import { parseJson } from './parse-json.ts';

/**
 * The fields of a form as a body: objects and lists are written as JSON in their field, all else is text.
 * @throws AppError `invalid` naming the field.
 */
export function formValues(schema: TSchema, fields: Record<string, string>): Record<string, unknown> {
  const properties = shapeOf(schema).properties ?? {};
  const values = Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, known === undefined ? text : parsedField(known, name, text)];
    }),
  );
  checkJson(values);
  return values;
}

function parsedField(schema: TSchema, name: string, text: string): unknown {
  const type = typeOf(withoutNull(schema));
  if (type !== 'object' && type !== 'array') return text;
  if (text.trim() === '') return null;
  try {
    return parseJson(Buffer.from(text));
  } catch (cause) {
    const detail = cause instanceof AppError ? cause.message : 'Not valid JSON.';
    throw new AppError('invalid', detail, { code: 'parse_error', attr: name, cause });
  }
}
