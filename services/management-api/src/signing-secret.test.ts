import { mountSecret } from '@millrace/testing';
import { readSigningSecrets } from './signing-secret.ts';

test('starts using a new signing secret in the file immediately, unless it is too short', () => {
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

test('uses one random signing secret for the lifetime of the process if none is configured', () => {
  const [one, other] = [readSigningSecrets({}), readSigningSecrets({})];
  expect(one()).toEqual(one());
  expect(one()).not.toEqual(other());
});
