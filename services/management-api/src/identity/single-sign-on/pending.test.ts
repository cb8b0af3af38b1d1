import { parsePending, parseTicket } from './pending.ts';

const shared = { domainId: null, purpose: { for: 'sign_in' }, next: '/console/', browser: 'x'.repeat(64) };
const openId = { ...shared, kind: 'gitlab', question: { nonce: 'n', codeVerifier: 'c', reauthenticate: false } };
const saml = { ...shared, kind: 'saml', domainId: 'd', question: '_id' };
const answer = {
  ...{ kind: 'saml', domainId: 'd', issuer: 'i', subject: 's', email: null },
  ...{ isEmailVerified: true, firstName: '', lastName: '' },
};

test('parses the stored state of every kind of provider, and a ticket', () => {
  expect(parsePending(openId)).toEqual(openId);
  expect(parsePending(saml)).toEqual(saml);
  expect(parsePending({ ...saml, question: null, browser: null })).toMatchObject({ question: null });
  expect(parseTicket({ ...saml, answer, attributes: { a: ['b'] } })).toMatchObject({ answer });
});

test.each<[string, unknown]>([
  ['null', null],
  ['an empty object', {}],
  ['an unknown provider', { ...openId, kind: 'other' }],
  ['the question of a different kind of provider', { ...saml, question: openId.question }],
  ['a question without a nonce', { ...openId, question: { codeVerifier: 'c', reauthenticate: false } }],
  ['a reauthentication without its session', { ...openId, purpose: { for: 'reauthentication', userId: 1 } }],
  ['a missing path', { ...openId, next: undefined }],
])('rejects stored state with %s', (_name, data) => {
  expect(() => parsePending(data)).toThrow('A stored sign-in step does not have the expected fields.');
});

test('rejects a ticket without a response', () => {
  expect(() => parseTicket({ ...saml, attributes: {} })).toThrow('A stored sign-in step');
});
