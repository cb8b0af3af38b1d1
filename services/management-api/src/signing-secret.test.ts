import { mountSecret } from '@millrace/testing';
import { signingSecrets } from './signing-secret.ts';

test('the secret in a file signs as soon as it is exchanged, but for one that is too short', () => {
  const secret = mountSecret({ token: 'the first that is long' });
  try {
    const read = signingSecrets({ tokenSecret: 'the first that is long', tokenSecretFile: secret.file('token') });
    expect(read()).toEqual(['the first that is long']);
    secret.exchange({ token: 'half' });
    expect(read()).toEqual(['the first that is long']);
    secret.exchange({ token: 'the second that is long, the first that is long' });
    expect(read()).toEqual(['the second that is long', 'the first that is long']);
  } finally {
    secret.remove();
  }
});

test('without a setting each process signs with a secret of its own, always the same', () => {
  const [one, other] = [signingSecrets({}), signingSecrets({})];
  expect(one()).toEqual(one());
  expect(one()).not.toEqual(other());
});
