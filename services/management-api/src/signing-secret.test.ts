import { mountSecret } from '@millrace/testing';
import { signingSecret } from './signing-secret.ts';

test('the secret in a file signs as soon as it is exchanged, but for one that is too short', () => {
  const secret = mountSecret({ token: 'the first, which is long' });
  try {
    const read = signingSecret({ tokenSecret: 'the first, which is long', tokenSecretFile: secret.file('token') });
    expect(read()).toBe('the first, which is long');
    secret.exchange({ token: 'half' });
    expect(read()).toBe('the first, which is long');
    secret.exchange({ token: 'the second, which is long too' });
    expect(read()).toBe('the second, which is long too');
  } finally {
    secret.remove();
  }
});

test('without a setting each process signs with a secret of its own, always the same', () => {
  const [one, other] = [signingSecret({}), signingSecret({})];
  expect(one()).toBe(one());
  expect(one()).not.toBe(other());
});
