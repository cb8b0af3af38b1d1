import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the key that encrypts the secrets in this directory's database (`SECRETS_KEY`). The first start creates the
 * key and stores it next to the data, in a file that only its owner can read. Without the key, the stored secrets
 * cannot be decrypted.
 */
export function ensureSecretsKey(directory: string): string {
  const file = join(directory, 'secrets.key');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const key = randomBytes(32).toString('base64');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return key;
}
