// Encrypts, decrypts and redacts feature flag payloads.

import { flagPayloadEncryptionContext, isObject, isSealedPayload, redactedPayload } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { AppError, type SecretBox, SecretBoxError } from '@millrace/runtime';
import type { EventDeps } from '../../analytics/events/routes.ts';
import type { FlagRow } from './store.ts';

export interface FlagDeps
  extends Pick<Database, 'sql' | 'transaction'>,
    Pick<EventDeps, 'searches' | 'externalEventStore'> {
  payloadSecrets: PayloadSecrets;
}

type Payloads = Record<string, string>;

export interface PayloadSecrets {
  /**
   * Encrypts the payloads of a flag.
   * @param stored the stored payloads, which are kept if the client sends them back unchanged or redacted
   * @throws AppError `invalid` if no key is configured and payloads must not be stored unencrypted
   */
  seal(payloads: Payloads, of: { environmentId: number; stored: Payloads }): Payloads;
  /** Decrypts payloads. Redacts those that no configured key can decrypt. */
  open(stored: Payloads, environmentId: number): Payloads;
}

/** @param mayBePlain whether payloads are stored unencrypted if no key is configured. Only for local development. */
export function createPayloadSecrets(box: SecretBox, { mayBePlain }: { mayBePlain: boolean }): PayloadSecrets {
  const open = (text: string, environmentId: number) => {
    if (!isSealedPayload(text)) return text;
    try {
      return String(box.open({ sealed: text }, flagPayloadEncryptionContext(environmentId)).payload);
    } catch (error) {
      if (error instanceof SecretBoxError) return redactedPayload;
      throw error;
    }
  };
  const seal = (payload: string, environmentId: number) => {
    if (box.newestPrefix !== null) return box.seal({ payload }, flagPayloadEncryptionContext(environmentId)).sealed;
    if (mayBePlain) return payload;
    throw new AppError(
      'invalid',
      'Encrypted payloads require an encryption key. Ask the operator of this installation to set SECRETS_KEY.',
      { code: 'secrets_key_missing', attr: 'has_encrypted_payloads' },
    );
  };
  return {
    seal: (payloads, { environmentId, stored }) =>
      mapPayloads(payloads, (payload, key) => {
        const storedPayload = Object.hasOwn(stored, key) ? stored[key] : undefined;
        const isUnchanged =
          storedPayload !== undefined &&
          (payload === redactedPayload || open(storedPayload, environmentId) === payload);
        return isUnchanged && isSealedPayload(storedPayload) ? storedPayload : seal(payload, environmentId);
      }),
    open: (stored, environmentId) => mapPayloads(stored, (text) => open(text, environmentId)),
  };
}

function mapPayloads(payloads: Payloads, change: (payload: string, key: string) => string): Payloads {
  return Object.fromEntries(Object.entries(payloads).map(([key, payload]) => [key, change(payload, key)]));
}

type StoredFilters = Pick<FlagRow, 'filters' | 'rollout_percentage'>;

/**
 * Returns the filters in the current format. Old flags have a single list of filters, and their rollout percentage is
 * in a separate column.
 */
function withConditions({ filters, rollout_percentage }: StoredFilters): Record<string, unknown> {
  if (Object.hasOwn(filters, 'groups')) return filters;
  const { properties, ...others } = filters;
  return { ...others, groups: [{ properties: properties ?? [], rollout_percentage }] };
}

export function readPayloads({ filters }: Pick<FlagRow, 'filters'>): Record<string, string> {
  return isObject(filters.payloads) ? (filters.payloads as Record<string, string>) : {};
}

/** Decrypts the payloads in a flag's filters, for requests with a personal API key. */
export function decryptFilters(row: FlagRow, secrets: PayloadSecrets): Record<string, unknown> {
  return withPayloads(row, (payloads) => secrets.open(payloads, row.environment_id));
}

/** Redacts encrypted payloads in a flag's filters, for lists and the activity log. */
export function redactFilters(row: FlagRow): Record<string, unknown> {
  return withPayloads(row, (payloads) => mapPayloads(payloads, () => redactedPayload));
}

function withPayloads(row: FlagRow, change: (payloads: Record<string, string>) => Record<string, string>) {
  const filters = withConditions(row);
  return row.has_encrypted_payloads === true ? { ...filters, payloads: change(readPayloads(row)) } : filters;
}
