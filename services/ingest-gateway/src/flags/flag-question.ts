import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { EvaluationContext } from '@millrace/flags';
import { cutDistinctId } from '../event/distinct-id.ts';
import { invalidField } from '../event/invalid-field.ts';
import { findProjectApiKey } from '../request/project-api-key.ts';

type Fields = Record<string, unknown>;

/** Who asks for which flags. */
export interface FlagQuestion {
  /** The project API key, well-shaped; whose it is has not been asked yet. */
  token: string;
  /** Only what is told to browsers is asked for. */
  isDisabled: boolean;
  /** Null where flags are not asked for and nobody is named. */
  context: Omit<EvaluationContext, 'stored' | 'now'> | null;
  /** Keys of the flags that are asked for; absent: all. */
  keys?: readonly string[];
  contexts: readonly string[];
  /** As it was sent; null when nothing is said. */
  runtime: string | null;
}

/**
 * The fields of a question, with the names they have had over time.
 *
 * @param fallbackKey the project API key beside the body.
 * @throws AppError `unauthenticated` without a key, `invalid` naming the field.
 */
export function readQuestion(fields: Fields, fallbackKey: string | null): FlagQuestion {
  const { token, api_key, $token } = fields;
  const key = findProjectApiKey({ token: token ?? api_key ?? $token }, [], fallbackKey);
  const isDisabled = fields.disable_flags === true;
  const distinctId = readDistinctId(fields.distinct_id ?? fields.$distinct_id);
  if (distinctId === null && !isDisabled) throw missingDistinctId();
  const keys = textsIn(fields, 'flag_keys_to_evaluate', 'flag_keys');
  const runtime = fields.evaluation_runtime;
  return {
    token: key,
    isDisabled,
    context: distinctId === null ? null : contextOf(fields, distinctId),
    ...(keys === undefined ? {} : { keys }),
    contexts: textsIn(fields, 'evaluation_contexts', 'evaluation_environments') ?? [],
    runtime: runtime === undefined || runtime === null ? null : String(runtime),
  };
}

function contextOf(fields: Fields, distinctId: string): FlagQuestion['context'] {
  const personProperties = objectIn(fields, 'person_properties', '$properties');
  const anonymousDistinctId = textOrNumber(fields.$anon_distinct_id);
  const deviceId = textOrNumber(fields.$device_id ?? fields.device_id ?? personProperties.$device_id);
  return {
    distinctId,
    ...(anonymousDistinctId === null ? {} : { anonymousDistinctId: cutDistinctId(anonymousDistinctId) }),
    ...(deviceId === null ? {} : { deviceId }),
    groups: objectIn(fields, 'groups', '$groups'),
    personProperties,
    groupProperties: objectIn(fields, 'group_properties', '$group_properties'),
  };
}

/** The empty text is an id here. Null when there is none. */
function readDistinctId(sent: unknown): string | null {
  if (sent === undefined || sent === null) return null;
  const text = textOrNumber(sent);
  if (text === null) throw invalidField(['distinct_id'], 'The field `distinct_id` must be a text or a number', sent);
  return cutDistinctId(text);
}

function textOrNumber(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? JSON.stringify(value) : null;
}

function objectIn(fields: Fields, name: string, alias: string): Fields {
  const value = fields[name] ?? fields[alias] ?? {};
  if (!isObject(value)) throw invalidField([name], `The field \`${name}\` must be an object`, value);
  return value;
}

/** What is no text in the list is left out. */
function textsIn(fields: Fields, name: string, alias: string): string[] | undefined {
  const value = fields[name] ?? fields[alias];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalidField([name], `The field \`${name}\` must be an array of texts`, value);
  return value.filter((member) => typeof member === 'string');
}

function missingDistinctId(): AppError {
  return new AppError('invalid', 'The field `distinct_id` is required.', {
    code: 'missing_distinct_id',
    attr: 'distinct_id',
  });
}
