import { randomBytes } from 'node:crypto';
import { createSecretReader } from '@millrace/runtime';

/** Matches one or more comma-separated secrets of at least sixteen characters each. */
export const secretList = '^\\s*[^,\\s]([^,]{14,}[^,\\s])(\\s*,\\s*[^,\\s]([^,]{14,}[^,\\s]))*\\s*$';

/**
 * Reads the secret that currently signs tokens, followed by the secrets that are still accepted. They come from the
 * configured file. Without a file, a random secret is used until the process stops. Ignores invalid file content,
 * because another program may be writing the file.
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
