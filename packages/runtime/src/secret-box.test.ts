import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { readConfig } from './config.ts';
import { createSecretBox, SecretBoxError, secretsKeyConfigFields } from './secret-box.ts';

const newKey = () => randomBytes(32).toString('base64');
const secret = { user: 'u', password: 'Ω hunter2' };

test('decrypts a secret in its context, and the encrypted secret reveals nothing', () => {
  const box = createSecretBox(newKey());
  const stored = box.seal(secret, 'row 1');
  expect(JSON.stringify(stored)).not.toContain('hunter2');
  expect(stored.sealed.startsWith(box.newestPrefix ?? '-')).toBe(true);
  expect(box.open({ ...stored }, 'row 1')).toEqual(secret);
  expect(box.seal(secret, 'row 1')).not.toEqual(stored);
});

test('rejects a secret in a different context or after a modification', () => {
  const box = createSecretBox(newKey());
  const { sealed } = box.seal(secret, 'row 1');
  expect(() => box.open({ sealed }, 'row 2')).toThrow(SecretBoxError);
  const last = sealed.at(-3) === 'A' ? 'B' : 'A';
  for (const text of [`${sealed.slice(0, -3)}${last}${sealed.slice(-2)}`, sealed.slice(0, -8), sealed.slice(0, 20), ''])
    expect(() => box.open({ sealed: text }, 'row 1')).toThrow(SecretBoxError);
});

test('encrypts with the first key and decrypts with any key, so that keys can be rotated', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = { ...createSecretBox(old).seal(secret, 'x') };
  const both = createSecretBox(`${young}, ${old}`);
  expect(both.open(sealed, 'x')).toEqual(secret);
  const again = { ...both.seal(secret, 'x') };
  expect(createSecretBox(young).open(again, 'x')).toEqual(secret);
  expect(() => createSecretBox(young).open(sealed, 'x')).toThrow(/SECRETS_KEY does not contain the key [0-9a-f]{12}\./);
  expect(() => createSecretBox(undefined).open(sealed, 'x')).toThrow(SecretBoxError);
});

test('reads the key setting again for every encryption, and for a decryption if the needed key is missing', () => {
  const [old, young] = [newKey(), newKey()];
  let setting = old;
  const box = createSecretBox(() => setting);
  const sealed = { ...box.seal(secret, 'x') };
  setting = `${young},${old}`;
  expect(box.open(sealed, 'x')).toEqual(secret);
  expect(createSecretBox(young).open({ ...box.seal(secret, 'x') }, 'x')).toEqual(secret);
  const elsewhere = createSecretBox(() => setting);
  const youngest = newKey();
  setting = `${young},${youngest}`;
  expect(elsewhere.open({ ...createSecretBox(youngest).seal(secret, 'x') }, 'x')).toEqual(secret);
  setting = 'no key';
  expect(() => box.seal(secret, 'x')).not.toThrow();
});

test('requireKeys names only keys that are missing', () => {
  const box = createSecretBox(newKey());
  expect(() => box.requireKeys(box.keyIds)).not.toThrow();
  expect(() => box.requireKeys(['0123456789ab', ...box.keyIds])).toThrow(
    /SECRETS_KEY does not contain the key 0123456789ab, which encrypts/,
  );
  expect(() => createSecretBox(undefined).requireKeys(box.keyIds)).toThrow(/SECRETS_KEY/);
});

test('returns unencrypted values unchanged, and cannot encrypt a secret without a key', () => {
  const box = createSecretBox(undefined);
  expect(box.open(secret, 'x')).toEqual(secret);
  expect(box.newestPrefix).toBeNull();
  expect(() => box.seal(secret, 'x')).toThrow('SECRETS_KEY is not set');
});

test.each([
  [newKey(), true],
  [`${newKey()},${newKey()}`, true],
  [randomBytes(32).toString('base64url'), true],
  [undefined, true],
  ['short', false],
  [randomBytes(31).toString('base64').slice(0, 40), false],
  [`${newKey()},`, false],
])('accepts only secret keys of 32 bytes in base64: %#', (text, isRight) => {
  const read = () => readConfig(Type.Object(secretsKeyConfigFields), { SECRETS_KEY: text });
  if (isRight) expect(read().secretsKey).toBe(text);
  else expect(read).toThrow(/SECRETS_KEY is not valid/);
});
