import { randomBytes } from 'node:crypto';
import { secretOf } from '@millrace/runtime';

/** One secret of sixteen characters, which cannot be guessed, or several separated by commas. */
export const secretList = '^\\s*[^,\\s]([^,]{14,}[^,\\s])(\\s*,\\s*[^,\\s]([^,]{14,}[^,\\s]))*\\s*$';

/**
 * What signs tokens at the moment, and behind it what is still accepted: the setting, as its file has it now, or a secret that
 * dies with the process. What does not fit, because somebody is just writing it, is not taken.
 */
export function signingSecrets(config: {
  tokenSecret?: string;
  tokenSecretFile?: string;
}): () => readonly [string, ...string[]] {
  const read = secretOf(config, 'tokenSecret');
  let last = read?.() ?? randomBytes(32).toString('base64url');
  return () => {
    const now = read?.() ?? last;
    if (new RegExp(secretList).test(now)) last = now;
    const [first = last, ...former] = last.split(',').map((secret) => secret.trim());
    return [first, ...former];
  };
}
