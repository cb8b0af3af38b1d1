import { randomBytes } from 'node:crypto';
import { createSecretReader } from '@millrace/runtime';

/** One secret of sixteen characters, which cannot be guessed, or several separated by commas. */
export const secretList = '^\\s*[^,\\s]([^,]{14,}[^,\\s])(\\s*,\\s*[^,\\s]([^,]{14,}[^,\\s]))*\\s*$';

/**
 * The secret that signs tokens now, followed by those that are still accepted: the current content of the setting's file, or
 * a random secret for the life of the process. Ignores invalid content, because the file may just be being written.
 */
export function readSigningSecrets(config: {
  tokenSecret?: string;
  tokenSecretFile?: string;
}): () => readonly [string, ...string[]] {
  const read = createSecretReader(config, 'tokenSecret');
  let last = read?.() ?? randomBytes(32).toString('base64url');
  return () => {
    const now = read?.() ?? last;
    if (new RegExp(secretList).test(now)) last = now;
    const [first = last, ...former] = last.split(',').map((secret) => secret.trim());
    return [first, ...former];
  };
}
