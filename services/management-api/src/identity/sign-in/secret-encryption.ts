import { isSealedPayload } from '@millrace/contracts';
import { AppError, type SecretBox } from '@millrace/runtime';

export interface SecretEncryption {
  /**
   * Encrypts a secret.
   * @param context identifies where the secret is stored, for example `totp:7`. The secret can be decrypted only with
   *   the same context.
   * @throws AppError `invalid` with code `secrets_key_missing` if no key is configured and secrets must not be stored
   *   unencrypted
   */
  seal(text: string, context: string): string;
  /** @throws SecretBoxError if no configured key can decrypt the stored secret */
  open(stored: string, context: string): string;
}

/**
 * Creates the encryption for sign-in secrets.
 * @param mayBePlain whether to store secrets unencrypted if no key is configured. Only for local development.
 */
export function createSecretEncryption(box: SecretBox, { mayBePlain }: { mayBePlain: boolean }): SecretEncryption {
  return {
    seal(text, context) {
      if (box.newestPrefix !== null) return box.seal({ text }, context).sealed;
      if (mayBePlain) return text;
      throw new AppError(
        'invalid',
        'This installation cannot store secrets, because SECRETS_KEY is not set. Ask the operator to set it.',
        {
          code: 'secrets_key_missing',
        },
      );
    },
    open: (stored, context) => (isSealedPayload(stored) ? String(box.open({ sealed: stored }, context).text) : stored),
  };
}
