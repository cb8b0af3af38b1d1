import { isSealedText } from '@millrace/contracts';
import { AppError, type SecretBox } from '@millrace/runtime';

/** Puts a secret of a sign-in into the form in which it is stored, and back. */
export interface SealedTexts {
  /**
   * @param context where it belongs, e.g. `totp:7`: it opens nowhere else.
   * @throws AppError `invalid` with code `secrets_key_missing` where nothing may be stored unencrypted and there is no key.
   */
  seal(text: string, context: string): string;
  /** @throws SecretBoxError when no key at hand opens it. */
  open(stored: string, context: string): string;
}

/** @param mayBePlain whether, without a key, texts are stored as they are: on one's own machine only. */
export function createSealedTexts(box: SecretBox, { mayBePlain }: { mayBePlain: boolean }): SealedTexts {
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
    open: (stored, context) => (isSealedText(stored) ? String(box.open({ sealed: stored }, context).text) : stored),
  };
}
