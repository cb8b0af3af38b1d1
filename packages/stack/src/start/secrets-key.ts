import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The key that encrypts secrets in this directory's database (`SECRETS_KEY`): made at the first start and kept beside the
 * data, readable for its owner only. Without it the stored secrets are lost.
 */
export function ensureSecretsKey(directory: string): string {
  const file = join(directory, 'secrets.key');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const key = randomBytes(32).toString('base64');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return key;
}
