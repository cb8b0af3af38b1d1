// Validates an export's destination, and encrypts its secrets.

import {
  type DestinationField,
  type ExportDestinationType,
  exportDestinations,
  isExportDestinationType,
} from '@millrace/contracts';
import { AppError, type SecretBox, SecretBoxError } from '@millrace/runtime';

/** A destination. Secrets are separate from the settings, because responses contain only the settings. */
export interface Destination {
  type: ExportDestinationType;
  config: Record<string, unknown>;
  secrets: Record<string, unknown>;
}

interface DestinationChanges {
  type?: string | undefined;
  config?: Record<string, unknown> | undefined;
}

/**
 * Applies the changes in a request to a destination (docs/api/batch-exports.md). Merges the settings, so that clients
 * can omit the secrets. A destination with a new type starts without settings. `null` removes a setting.
 * @param stored the stored destination, or null for a new export
 * @throws AppError `invalid` for an unsupported type, an unknown or missing setting, a wrong type, or a new server
 *   without new secrets
 */
export function changeDestination(stored: Destination | null, changes: DestinationChanges): Destination {
  const type = checkType(changes.type ?? stored?.type ?? '');
  const kept = stored?.type === type ? { ...stored.config, ...stored.secrets } : {};
  const settings = Object.fromEntries(
    Object.entries({ ...kept, ...changes.config }).filter(([, value]) => value !== null),
  );
  checkSettings(type, settings);
  if (stored?.type === type) checkSecretsStay(stored, settings, changes.config ?? {});
  const fields: Record<string, DestinationField> = exportDestinations[type];
  const part = (isSecret: boolean) =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => (fields[name]?.isSecret ?? false) === isSecret));
  return { type, config: part(false), secrets: part(true) };
}

function checkType(type: string): ExportDestinationType {
  if (isExportDestinationType(type)) return type;
  const known = Object.keys(exportDestinations).join(', ');
  throw new AppError(
    'invalid',
    `"${type.slice(0, 100)}" is not a supported destination type. Supported types: ${known}.`,
    {
      code: 'invalid_choice',
      attr: 'destination__type',
    },
  );
}

function checkSettings(type: ExportDestinationType, settings: Record<string, unknown>): void {
  const fields: Record<string, DestinationField> = exportDestinations[type];
  const unknown = Object.keys(settings).filter((name) => !Object.hasOwn(fields, name));
  if (unknown.length > 0) {
    throw refusal(`Configuration has unknown field/s: ${unknown.map((name) => `'${name.slice(0, 100)}'`).join(', ')}`);
  }
  for (const [name, field] of Object.entries(fields)) {
    const value = settings[name];
    if (value === undefined) {
      if (field.isRequired) throw refusal(`Configuration missing required field: '${name}'`);
      continue;
    }
    checkValue(name, field, value);
  }
  checkMeaning(type, settings);
}

/** The settings that determine which server receives the secrets. */
const serverFields = ['host', 'port', 'endpoint_url'];

/**
 * Checks that stored secrets are not sent to a different server. Otherwise, a user who can change an export could
 * obtain its secrets by sending them to a server of their own.
 */
function checkSecretsStay(stored: Destination, settings: Record<string, unknown>, sent: Record<string, unknown>): void {
  const moved = serverFields.find((name) => settings[name] !== stored.config[name]);
  if (moved === undefined) return;
  const kept = Object.keys(stored.secrets).filter((name) => name in settings && !Object.hasOwn(sent, name));
  if (kept.length === 0) return;
  const names = kept.map((name) => `'${name}'`).join(', ');
  throw refusal(
    `'${moved}' changed, so you must also send ${names} again. Otherwise the stored secrets would be sent to a ` +
      'different server.',
  );
}

const typeNames = { string: 'str', integer: 'int', boolean: 'bool', strings: 'list' };

function checkValue(name: string, field: DestinationField, value: unknown): void {
  const isRight = {
    string: typeof value === 'string',
    integer: Number.isInteger(value),
    boolean: typeof value === 'boolean',
    strings: Array.isArray(value) && value.every((item) => typeof item === 'string'),
  }[field.type];
  if (!isRight) throw refusal(`Configuration has invalid type for '${name}': expected '${typeNames[field.type]}'`);
  if (field.isRequired && value === '' && name !== 'prefix') {
    throw refusal(`Configuration missing required field: '${name}'`);
  }
  if (field.choices && !field.choices.includes(String(value))) {
    throw refusal(`'${name}' must be one of: ${field.choices.join(', ')}. Other values are not supported.`);
  }
}

function checkMeaning(type: ExportDestinationType, settings: Record<string, unknown>): void {
  const { endpoint_url: endpoint, port } = settings;
  if (type === 'S3' && endpoint !== undefined && !isWebAddress(String(endpoint))) {
    throw refusal("'endpoint_url' must be an http or https URL without a username or password.");
  }
  if (type === 'S3' && !/^[a-z0-9-]{1,63}$/i.test(String(settings.region))) {
    throw refusal("'region' may only contain letters, digits and hyphens, and must have 1 to 63 characters.");
  }
  if (type === 'Postgres' && typeof port === 'number' && (port < 1 || port > 65_535)) {
    throw refusal("'port' must be between 1 and 65535.");
  }
}

function isWebAddress(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
  } catch {
    return false;
  }
}

function refusal(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'destination' });
}

export interface DestinationSecrets {
  /**
   * Encrypts the secrets of an export.
   * @throws AppError `invalid` if no key is configured and secrets must not be stored unencrypted
   */
  seal(secrets: Record<string, unknown>, exportId: string): Record<string, unknown>;
  /**
   * Decrypts the secrets of an export. Returns no secrets if no configured key can decrypt them. Users must then enter
   * the secrets again.
   */
  open(stored: Record<string, unknown>, exportId: string): Record<string, unknown>;
}

/** @param mayBePlain whether secrets are stored unencrypted if no key is configured. Only for local development. */
export function createDestinationSecrets(box: SecretBox, { mayBePlain }: { mayBePlain: boolean }): DestinationSecrets {
  return {
    seal(secrets, exportId) {
      if (box.newestPrefix !== null) return { ...box.seal(secrets, exportId) };
      if (mayBePlain) return secrets;
      throw new AppError(
        'invalid',
        'This installation cannot store the secrets of a batch export. Ask the operator to set SECRETS_KEY.',
        { code: 'secrets_key_missing', attr: 'destination' },
      );
    },
    open(stored, exportId) {
      try {
        return box.open(stored, exportId);
      } catch (error) {
        if (error instanceof SecretBoxError) return {};
        throw error;
      }
    },
  };
}
