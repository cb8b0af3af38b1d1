import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSecretsKey } from './secrets-key.ts';

test('creates the key only once, in a file that only its owner can read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-key-'));
  try {
    const key = ensureSecretsKey(directory);
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    expect(ensureSecretsKey(directory)).toBe(key);
    expect(statSync(join(directory, 'secrets.key')).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
