import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { parseDateTime } from './date-time.ts';

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

/** Compiles a schema now, so that a mistake in it is found by whatever test starts the service and not by a request. */
export function compileSchema(schema: TSchema): void {
  ajv.compile(schema);
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
