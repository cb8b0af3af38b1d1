import { AppError } from '@millrace/errors';
import type { Static, TSchema } from 'typebox';
import { schemaFailure } from './ajv.ts';
import { type CoerceOptions, coerce } from './coerce.ts';
import { firstFieldError } from './field-error.ts';

/**
 * The border for outside data: `unknown` in, the schema's type out.
 *
 * @throws AppError `invalid` naming the first field that is wrong, in the schema's order of fields.
 */
export function parseInput<S extends TSchema>(schema: S, value: unknown, options: CoerceOptions): Static<S> {
  const coerced = coerce(schema, value, options);
  if (schemaFailure(schema, coerced) === null) return coerced as Static<S>;
  const error = firstFieldError(schema, coerced) ?? { code: 'invalid_input', detail: 'Enter a valid value.', path: [] };
  throw new AppError('invalid', error.detail, {
    code: error.code,
    attr: error.path.length > 0 ? error.path.join('__') : null,
  });
}
