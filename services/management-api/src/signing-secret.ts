import { randomBytes } from 'node:crypto';
import { secretOf } from '@millrace/runtime';

/** Shorter ones can be guessed. */
export const minSecretLength = 16;

/**
 * What signs tokens for other services at the moment: the setting, as its file has it now, or a secret that dies with the process.
 * What is too short, because somebody is just writing it, is not taken.
 */
export function signingSecret(config: { tokenSecret?: string; tokenSecretFile?: string }): () => string {
  const read = secretOf(config, 'tokenSecret');
  let last = read?.() ?? randomBytes(32).toString('base64url');
  return () => {
    const now = read?.() ?? last;
    if (now.length >= minSecretLength) last = now;
    return last;
  };
}
