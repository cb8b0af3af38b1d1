import { flagPayloadContext, isSealedPayload } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { type SecretBox, SecretBoxError } from '@millrace/runtime';

/** A payload as its people wrote it. @throws AppError `unavailable` when no key at hand opens it. */
export type PayloadOpener = (stored: string, environmentId: number) => string;

export function createPayloadOpener(box: SecretBox): PayloadOpener {
  return (stored, environmentId) => {
    if (!isSealedPayload(stored)) return stored;
    try {
      return String(box.open({ sealed: stored }, flagPayloadContext(environmentId)).payload);
    } catch (cause) {
      if (!(cause instanceof SecretBoxError)) throw cause;
      throw new AppError('unavailable', 'This payload is encrypted with a key that this service does not have.', {
        cause,
      });
    }
  };
}
