import { AppError } from '@millrace/runtime';

type Fields = Record<string, unknown>;

const maxKeyBytes = 64;

/** Returns the API key of an envelope or event, under any of its field names (docs/wire-rules.md#project-api-key). */
function keyIn(fields: Fields): unknown {
  return fields.api_key ?? fields.token ?? fields.$token;
}

function keyInEvent(event: Fields | null): unknown {
  if (event === null) return undefined;
  const own = keyIn(event);
  if (own !== undefined && own !== null) return own;
  const properties = event.properties as Fields | undefined;
  return typeof properties?.token === 'string' ? properties.token : undefined;
}

/**
 * Finds a request's project API key: in the envelope, else in the events, which must all have the same key, else in
 * `fallback` (from a form field, or from a GET request's query). Removes surrounding white space.
 * @throws AppError `unauthenticated` with the code `missing_api_key`, `inconsistent`, `not_string`, `empty`,
 * `too_long`, `not_ascii`, `personal_api_key` or `null_byte` (cases token-001 to token-016)
 */
export function findProjectApiKey(
  envelope: Fields | null,
  events: readonly (Fields | null)[],
  fallback: string | null,
): string {
  const inEnvelope = envelope === null ? undefined : keyIn(envelope);
  const key = inEnvelope ?? agreedKey(events) ?? fallback;
  if (key === undefined || key === null) {
    throw refused('missing_api_key', 'The request has no project API key. Send it as `api_key` in the body.');
  }
  return checkShape(key);
}

function agreedKey(events: readonly (Fields | null)[]): unknown {
  let agreed: unknown;
  for (const event of events) {
    const key = keyInEvent(event);
    if (key === undefined || key === agreed) continue;
    if (agreed !== undefined)
      throw refused('inconsistent', 'All events in a request must have the same project API key.');
    agreed = key;
  }
  return agreed;
}

function checkShape(key: unknown): string {
  if (typeof key !== 'string') throw refused('not_string', 'The project API key must be a string.');
  const trimmed = key.trim();
  if (trimmed === '') throw refused('empty', 'The project API key is empty. Copy the key from the project settings.');
  if (Buffer.byteLength(trimmed) > maxKeyBytes) {
    throw refused('too_long', `The project API key is longer than ${maxKeyBytes} bytes.`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is ASCII and has its own error below
  if (/[^\x00-\x7f]/.test(trimmed))
    throw refused(
      'not_ascii',
      'The project API key contains a character that is not ASCII, such as a curly quote. Copy the key from the project ' +
        'settings.',
    );
  if (trimmed.startsWith('phx_')) {
    throw refused('personal_api_key', 'This is a personal API key. Send the project API key (`phc_…`) instead.');
  }
  if (trimmed.startsWith('phs_')) {
    const message =
      'This is a secret API key, which can only read feature flags. Send the project API key (`phc_…`) instead.';
    throw refused('invalid_api_key', message);
  }
  if (trimmed.includes('\0')) throw refused('null_byte', 'The project API key contains a NUL character.');
  return trimmed;
}

function refused(code: string, message: string): AppError {
  return new AppError('unauthenticated', message, { code, attr: 'api_key' });
}
