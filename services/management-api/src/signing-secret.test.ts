import { mountSecret } from '@millrace/testing';
import { readSigningSecrets } from './signing-secret.ts';

test('uses a new signing secret in the file immediately, unless the secret is too short', () => {
  const secret = mountSecret({ token: 'the first that is long' });
  try {
    const read = readSigningSecrets({ tokenSecret: 'the first that is long', tokenSecretFile: secret.file('token') });
    expect(read()).toEqual(['the first that is long']);
    secret.exchange({ token: 'half' });
    expect(read()).toEqual(['the first that is long']);
    secret.exchange({ token: 'the second that is long, the first that is long' });
    expect(read()).toEqual(['the second that is long', 'the first that is long']);
  } finally {
    secret.remove();
  }
});

test('uses the same random signing secret until the process stops if none is configured', () => {
  const [one, other] = [readSigningSecrets({}), readSigningSecrets({})];
  expect(one()).toEqual(one());
  expect(one()).not.toEqual(other());
});
