import { AppError } from '@millrace/errors';
import { type SecretBox, SecretBoxError } from '@millrace/runtime';

/** Puts the secrets of destinations into the form in which they are stored, and back. */
export interface DestinationSecrets {
  /** @throws AppError `invalid` where nothing may be stored unencrypted and there is no key. */
  seal(secrets: Record<string, unknown>, exportId: string): Record<string, unknown>;
  /** What no key at hand opens is no more: all of it has to be sent again. */
  open(stored: Record<string, unknown>, exportId: string): Record<string, unknown>;
}

/** @param mayBePlain whether, without a key, secrets are stored as they are: on one's own machine only. */
export function createDestinationSecrets(box: SecretBox, { mayBePlain }: { mayBePlain: boolean }): DestinationSecrets {
  return {
    seal(secrets, exportId) {
      if (box.newestPrefix !== null) return { ...box.seal(secrets, exportId) };
      if (mayBePlain) return secrets;
      throw new AppError(
        'invalid',
        'This installation cannot keep the secrets of a batch export: its operator has to set SECRETS_KEY.',
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
