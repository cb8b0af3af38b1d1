import type { JsonObject } from '@millrace/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Static, Type } from 'typebox';
import type { RawFields } from './raw-fields.ts';

const objectOrNull = Type.Unsafe<JsonObject | null>({ type: ['object', 'null'] });

/**
 * One event as a client sends it: the types that are checked (docs/wire-rules.md#fields-of-an-event). Names and ids are
 * not in it: an event without them is dropped, not refused. Fields that are not listed are accepted and left out.
 */
const clientEventSchema = Type.Object({
  uuid: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'client-uuid' })),
  timestamp: Type.Optional(Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })),
  offset: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'] })),
  $set: Type.Optional(objectOrNull),
  $set_once: Type.Optional(objectOrNull),
  properties: Type.Optional(
    Type.Unsafe<JsonObject>({
      type: 'object',
      properties: { $cookieless_mode: { type: ['boolean', 'null'] } },
    }),
  ),
});

/** An event after validation. What the schema does not check is still unknown. */
export type ClientEvent = Static<typeof clientEventSchema> & {
  event?: unknown;
  distinct_id?: unknown;
  $distinct_id?: unknown;
  $unset?: unknown;
  /** Where the whole of its properties and what is to be set are written, when only what is looked at was read. */
  raw?: RawFields;
};

/** Hyphenated, 32 digits, braced or as URN; the empty text counts as none (cases F13-F15). */
const clientUuid =
  /^(?:|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** @param uuid of whatever type. */
export function isClientUuid(uuid: unknown): uuid is string {
  return typeof uuid === 'string' && clientUuid.test(uuid);
}

const ajv = new Ajv2020({ allowUnionTypes: true, formats: { 'client-uuid': clientUuid } });
const validate = ajv.compile<ClientEvent>(clientEventSchema);

/** What is wrong with an event: the field's path, and what it should be. */
export interface FieldProblem {
  path: string[];
  expected: string;
}

/** Null when the value is a well-typed event. */
export function findFieldProblem(value: unknown): FieldProblem | null {
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  return {
    path: (error?.instancePath ?? '').split('/').filter((part) => part !== ''),
    expected: expectation(error?.keyword, error?.params),
  };
}

function expectation(keyword: string | undefined, params: { type?: string | string[] } | undefined): string {
  if (keyword === 'format') return 'a UUID';
  const types = [params?.type ?? []].flat().filter((type) => type !== 'null');
  return types.map((type) => (type === 'object' || type === 'integer' ? `an ${type}` : `a ${type}`)).join(' or ');
}
