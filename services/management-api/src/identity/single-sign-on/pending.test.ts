import { parsePendingSignIn, parseTicket } from './pending.ts';

const shared = { domainId: null, purpose: { for: 'sign_in' }, next: '/console/', browser: 'x'.repeat(64) };
const openId = { ...shared, kind: 'gitlab', secrets: { nonce: 'n', codeVerifier: 'c', reauthenticate: false } };
const saml = { ...shared, kind: 'saml', domainId: 'd', requestId: '_id' };
const profile = {
  ...{ kind: 'saml', domainId: 'd', issuer: 'i', subject: 's', email: null },
  ...{ isEmailVerified: true, firstName: '', lastName: '' },
};

test('parses the stored state of a sign-in through every kind of provider, and a SAML ticket', () => {
  expect(parsePendingSignIn(openId)).toEqual(openId);
  expect(parsePendingSignIn(saml)).toEqual(saml);
  expect(parsePendingSignIn({ ...saml, requestId: null, browser: null })).toMatchObject({ requestId: null });
  expect(parseTicket({ ...saml, profile, attributes: { a: ['b'] } })).toMatchObject({ profile });
});

test.each<[string, unknown]>([
  ['null', null],
  ['an empty object', {}],
  ['an unknown provider', { ...openId, kind: 'other' }],
  ['the secrets of OpenID as the request ID of SAML', { ...saml, requestId: openId.secrets }],
  ['secrets without a nonce', { ...openId, secrets: { codeVerifier: 'c', reauthenticate: false } }],
  ['a reauthentication without its session', { ...openId, purpose: { for: 'reauthentication', userId: 1 } }],
  ['a missing path', { ...openId, next: undefined }],
])('rejects the stored state of a sign-in with %s', (_name, data) => {
  expect(() => parsePendingSignIn(data)).toThrow('A stored sign-in step does not have the expected fields.');
});

test('rejects a SAML ticket without a response', () => {
  expect(() => parseTicket({ ...saml, attributes: {} })).toThrow('A stored sign-in step');
});
