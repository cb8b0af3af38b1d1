import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { readSamlCertificates } from '@millrace/accounts';
import { createTestKey } from '@millrace/testing/provider-key';
import { checkSamlResponse, type SamlExpectation, type SamlRefusal } from './check-response.ts';
import { checkSignOnUrl, samlMetadata, samlRequestUrl } from './messages.ts';
import {
  encode,
  enveloped,
  excC14n,
  type SamlResponseParts,
  type Signing,
  samlXml,
  sign,
} from './testing/saml-response.ts';

const [key, otherKey, ecKey] = [createTestKey(), createTestKey(), createTestKey({ type: 'ec' })];
const expiredKey = createTestKey({ expiresAt: new Date('2026-11-01T00:00:00Z') });
const sixKeys = Array.from({ length: 6 }, () => createTestKey({ type: 'ec' }));
const now = new Date('2026-11-20T12:00:00Z');
const expected: SamlExpectation = {
  issuer: 'https://idp.example/entity',
  certificates: [key.certificate],
  acsUrl: 'https://millrace.example/complete/saml/',
  audience: 'https://millrace.example',
  inResponseTo: '_request-1',
  now,
};
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const usual: SamlResponseParts = {
  issuer: expected.issuer,
  responseIssuer: expected.issuer,
  acsUrl: expected.acsUrl,
  destination: expected.acsUrl,
  audiences: [[expected.audience]],
  inResponseTo: '_request-1',
  responseInResponseTo: '_request-1',
  nameId: 'employee-17',
  nameIdFormat: persistent,
  attributes: { email: ['ada@corp.example'], first_name: ['Ada'], last_name: ['Lovelace'] },
  now,
  notBefore: -5,
  notOnOrAfter: 5,
  confirmedUntil: 5,
  sessionUntil: 60,
  status: 'urn:oasis:names:tc:SAML:2.0:status:Success',
  id: '1',
  more: '',
};

const signed = (parts: Partial<SamlResponseParts> = {}, signing: Partial<Signing> = {}) =>
  sign(samlXml({ ...usual, ...parts }), { key, ...signing });
const bothSigned = (parts: Partial<SamlResponseParts> = {}) => sign(signed(parts), { key, of: 'Response' });
const check = (encoded: string, other: Partial<SamlExpectation> = {}) =>
  checkSamlResponse(encoded, { ...expected, ...other });
const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
const wrapped = (text: string) => text.replaceAll(/(.{60})/g, '$1\r\n');

describe('a valid SAML response', () => {
  const accepted: [string, () => string, Partial<SamlExpectation>?][] = [
    ['sso-121 assertion signed, as Entra ID does', () => encode(signed())],
    ['sso-121 response signed, as Keycloak does', () => encode(signed({}, { of: 'Response' }))],
    ['sso-121 both signed, as Okta does', () => encode(bothSigned())],
    ['sso-127 line breaks in the base64', () => wrapped(encode(signed()))],
    ['sso-127 an XML declaration', () => encode(`<?xml version="1.0" encoding="UTF-8"?>${signed()}`)],
    ['sso-113 RSA with SHA-384', () => encode(signed({}, { hash: 'sha384' }))],
    ['sso-113 RSA with SHA-512', () => encode(signed({}, { hash: 'sha512' }))],
    ['sso-113 ECDSA', () => encode(signed({}, { key: ecKey })), { certificates: [ecKey.certificate] }],
    [
      'sso-113 the second of two certificates',
      () => encode(signed()),
      { certificates: [otherKey.certificate + key.certificate] },
    ],
    [
      'sso-113 a certificate without line breaks',
      () => encode(signed()),
      { certificates: [key.certificate.replaceAll(/-----.*-----/g, '')] },
    ],
    [
      'sso-131 two audiences in one restriction',
      () => encode(signed({ audiences: [['urn:other', expected.audience]] })),
    ],
    [
      'sso-131 two restrictions that both name us',
      () => encode(signed({ audiences: [[expected.audience], [expected.audience]] })),
    ],
    [
      'sso-131 no destination and no issuer in the response',
      () => encode(signed({ destination: null, responseIssuer: null })),
    ],
    ['sso-134 late by the maximum skew', () => encode(signed({ notOnOrAfter: -0.9, confirmedUntil: -0.9 }))],
    ['sso-134 early by the maximum skew', () => encode(signed({ notBefore: 0.9 }))],
    ['sso-134 no NotBefore', () => encode(signed({ notBefore: null, notOnOrAfter: null, sessionUntil: null }))],
    [
      'sso-135 unsolicited, if allowed',
      () => encode(signed({ inResponseTo: null, responseInResponseTo: null })),
      { inResponseTo: null },
    ],
    [
      'sso-134 a OneTimeUse condition',
      () => encode(sign(samlXml(usual).replace('</saml:Conditions>', '<saml:OneTimeUse/></saml:Conditions>'), { key })),
    ],
    [
      'one of two confirmations is valid',
      () =>
        encode(
          sign(
            samlXml(usual).replace(
              /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/s,
              (one) => one.replace('Recipient="https://millrace', 'Recipient="https://other') + one,
            ),
            { key },
          ),
        ),
    ],
    [
      'sso-134 signed with the key of an expired certificate',
      () => encode(signed({}, { key: expiredKey })),
      { certificates: [expiredKey.certificate] },
    ],
    ['sso-142 no attributes at all', () => encode(signed({ attributes: {} }))],
    ['character references in a name', () => encode(signed({ nameId: 'a&amp;b&#x41;' }))],
  ];
  test.each(accepted)('%s', (_, response, other = {}) => {
    expect(check(response(), other)).toMatchObject({ ok: true, assertionId: '_assertion-1' });
  });

  test('identifies the user, and returns how long to store the assertion ID to detect replays', () => {
    expect(check(encode(signed()))).toEqual({
      ok: true,
      assertionId: '_assertion-1',
      rememberUntil: new Date('2026-11-20T12:06:00Z'),
      authenticatedAt: now,
      identity: {
        nameId: 'employee-17',
        nameIdFormat: persistent,
        subject: 'employee-17',
        email: 'ada@corp.example',
        firstName: 'Ada',
        lastName: 'Lovelace',
        attributes: { email: ['ada@corp.example'], first_name: ['Ada'], last_name: ['Lovelace'] },
      },
    });
  });

  const identities: [string, Partial<SamlResponseParts>, object][] = [
    [
      'sso-142 Microsoft’s names',
      {
        attributes: {
          [`${claims}emailaddress`]: ['a@b.example'],
          [`${claims}givenname`]: ['A'],
          [`${claims}surname`]: ['B'],
        },
      },
      { email: 'a@b.example', firstName: 'A', lastName: 'B' },
    ],
    [
      'sso-142 names as OIDs',
      {
        attributes: {
          'urn:oid:0.9.2342.19200300.100.1.3': ['a@b.example'],
          'urn:oid:2.5.4.42': ['A'],
          'urn:oid:2.5.4.4': ['B'],
        },
      },
      { email: 'a@b.example', firstName: 'A', lastName: 'B' },
    ],
    [
      'sso-142 only the full name',
      { attributes: { fullName: ['Ada King Lovelace'] } },
      { firstName: 'Ada', lastName: 'King Lovelace', email: null },
    ],
    [
      'sso-142 an address as name ID',
      { attributes: {}, nameId: 'ada@corp.example' },
      { email: 'ada@corp.example', subject: 'ada@corp.example' },
    ],
    ['sso-142 no name', { attributes: { email: ['a@b.example'] } }, { firstName: '', lastName: '' }],
    [
      'sso-141 the first of two addresses',
      { attributes: { email: ['a@b.example', 'c@d.example'] } },
      { email: 'a@b.example' },
    ],
    [
      'sso-142 the first attribute name that has a value',
      { attributes: { EMAIL: ['e@f.example'], email: ['a@b.example'] } },
      { email: 'a@b.example' },
    ],
    [
      'sso-144 a transient name ID',
      { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
      { subject: null },
    ],
    [
      'sso-144 a transient name ID with a persistent attribute',
      { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient', attributes: { nameId: ['17'] } },
      { subject: '17' },
    ],
  ];
  test.each(identities)('%s', (_, parts, identity) => {
    expect(check(encode(signed(parts)))).toMatchObject({ ok: true, identity });
  });
});

const evil = samlXml({ ...usual, id: 'evil', nameId: 'admin' });
const evilAssertion = /<saml:Assertion.*<\/saml:Assertion>/s.exec(evil)?.[0] ?? '';
const assertionOf = (xml: string) => /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
const signatureOf = (xml: string) => /<ds:Signature .*?<\/ds:Signature>/s.exec(xml)?.[0] ?? '';
const intoSignature = (signature: string, inner: string) =>
  signature.replace('</ds:Signature>', `<ds:Object>${inner}</ds:Object></ds:Signature>`);

/**
 * Signature wrapping attacks (XSW), with their usual numbers from the literature. Each attack moves the signed original
 * to another location in the response, and puts a forged assertion in its place.
 */
const wrappings: Record<string, (xml: string) => string> = {
  1: (xml) => evil.replace('<samlp:Status>', `${intoSignature(signatureOf(xml), xml)}<samlp:Status>`),
  2: (xml) => evil.replace('<samlp:Status>', `${xml}${signatureOf(xml)}<samlp:Status>`),
  3: (xml) => xml.replace('<saml:Assertion', `${evilAssertion}<saml:Assertion`),
  4: (xml) =>
    xml.replace(assertionOf(xml), evilAssertion.replace('</saml:Assertion>', `${assertionOf(xml)}</saml:Assertion>`)),
  5: (xml) =>
    xml.replace(
      assertionOf(xml),
      evilAssertion.replace('<saml:Subject>', `${signatureOf(xml)}<saml:Subject>`) +
        assertionOf(xml).replace(signatureOf(xml), ''),
    ),
  6: (xml) =>
    xml.replace(
      assertionOf(xml),
      evilAssertion.replace(
        '<saml:Subject>',
        `${intoSignature(signatureOf(xml), assertionOf(xml).replace(signatureOf(xml), ''))}<saml:Subject>`,
      ),
    ),
  7: (xml) => xml.replace(assertionOf(xml), `<samlp:Extensions>${assertionOf(xml)}</samlp:Extensions>${evilAssertion}`),
  8: (xml) =>
    xml.replace(
      assertionOf(xml),
      evilAssertion.replace('<saml:Subject>', `${intoSignature(signatureOf(xml), assertionOf(xml))}<saml:Subject>`),
    ),
};
const originals = { 'the assertion': signed(), 'the response': signed({}, { of: 'Response' }), both: bothSigned() };

test.each(
  Object.keys(wrappings).flatMap((number) =>
    Object.keys(originals).map((what) => [number, what as keyof typeof originals] as const),
  ),
)('sso-121: rejects signature wrapping %s with a signature of %s', (number, what) => {
  const message = wrappings[number]?.(originals[what]) ?? '';
  expect(message).toContain('admin');
  expect(check(encode(message))).toMatchObject({ ok: false, reason: 'two_assertions' });
});

const broken = (change: (xml: string) => string, original = signed()) => {
  const changed = change(original);
  expect(changed).not.toBe(original);
  return encode(changed);
};
const reference = (xml: string) => /<ds:Reference.*<\/ds:Reference>/s.exec(xml)?.[0] ?? '';
const other = (parts: Partial<SamlResponseParts>) => () => encode(signed(parts));

const refused: [string, SamlRefusal, () => string, Partial<SamlExpectation>?][] = [
  ['sso-122 without a signature', 'not_signed', () => encode(samlXml(usual))],
  ['sso-122 with its signature removed', 'not_signed', () => broken((xml) => xml.replace(signatureOf(xml), ''))],
  ['sso-122 by another key', 'wrong_signature', () => encode(signed({}, { key: otherKey }))],
  [
    'sso-122 by another key that is not in the message',
    'wrong_signature',
    () => broken((xml) => xml.replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, ''), signed({}, { key: otherKey })),
  ],
  ['sso-122 by a key of another type', 'wrong_signature', () => encode(signed({}, { key: ecKey }))],
  [
    'sso-122 with HMAC',
    'weak_algorithm',
    () =>
      broken((xml) =>
        xml.replace(/(SignatureMethod Algorithm=")[^"]*/, '$1http://www.w3.org/2000/09/xmldsig#hmac-sha1'),
      ),
  ],
  ['sso-122 a changed value', 'wrong_signature', () => broken((xml) => xml.replace('employee-17', 'employee-18'))],
  ['sso-122 a changed attribute', 'wrong_signature', () => broken((xml) => xml.replace('ada@corp', 'eve@corp'))],
  [
    'sso-122 a change of the signed response',
    'wrong_signature',
    () => broken((xml) => xml.replace('_request-1', '_request-2'), signed({}, { of: 'Response' })),
  ],
  [
    'sso-122 one wrong signature of two',
    'wrong_signature',
    () =>
      broken(
        (xml) => xml.replace('IssueInstant="2026-11-20T12:00:00Z" Dest', 'IssueInstant="2026-11-20T12:00:01Z" Dest'),
        bothSigned(),
      ),
  ],
  ['sso-123 SHA-1', 'weak_algorithm', () => encode(signed({}, { hash: 'sha1' }))],
  ['sso-123 SHA-1 as digest', 'weak_algorithm', () => encode(signed({}, { digest: 'sha1' }))],
  [
    'sso-123 no algorithm',
    'weak_algorithm',
    () => broken((xml) => xml.replace(/SignatureMethod Algorithm="[^"]*"/, 'SignatureMethod')),
  ],
  [
    'sso-124 two assertions',
    'two_assertions',
    () => broken((xml) => xml.replace('</samlp:Response>', `${evilAssertion}</samlp:Response>`)),
  ],
  ['sso-124 no assertion', 'no_assertion', () => broken((xml) => xml.replace(assertionOf(xml), ''))],
  [
    'sso-124 an assertion in another namespace',
    'no_assertion',
    () => broken((xml) => xml.replaceAll('urn:oasis:names:tc:SAML:2.0:assertion', 'urn:other')),
  ],
  [
    'sso-124 two signatures',
    'misplaced_signature',
    () => broken((xml) => xml.replace(signatureOf(xml), signatureOf(xml) + signatureOf(xml))),
  ],
  [
    'sso-124 a signature in another place',
    'misplaced_signature',
    () =>
      broken((xml) =>
        xml.replace(signatureOf(xml), '').replace('</saml:Subject>', `${signatureOf(xml)}</saml:Subject>`),
      ),
  ],
  [
    'sso-124 two SignedInfo',
    'malformed_signature',
    () =>
      broken((xml) =>
        xml.replace(
          '<ds:SignatureValue>',
          `${/<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(xml)?.[0]}<ds:SignatureValue>`,
        ),
      ),
  ],
  [
    'sso-124 two references',
    'malformed_signature',
    () => broken((xml) => xml.replace(reference(xml), reference(xml) + reference(xml))),
  ],
  [
    'sso-124 an object in the signature',
    'malformed_signature',
    () => broken((xml) => xml.replace('</ds:Signature>', '<ds:Object/></ds:Signature>')),
  ],
  [
    'sso-124 the assertion in the extensions',
    'no_assertion',
    () => broken((xml) => xml.replace(assertionOf(xml), `<samlp:Extensions>${assertionOf(xml)}</samlp:Extensions>`)),
  ],
  [
    'sso-124 a reference to the whole document',
    'malformed_signature',
    () => broken((xml) => xml.replace(/Reference URI="[^"]*"/, 'Reference URI=""')),
  ],
  [
    'sso-124 a reference to another element',
    'malformed_signature',
    () => broken((xml) => xml.replace(/Reference URI="[^"]*"/, 'Reference URI="#_response-1"')),
  ],
  ['sso-124 a repeated ID', 'repeated_id', () => broken((xml) => xml.replace('ID="_response-1"', 'ID="_assertion-1"'))],
  [
    'sso-125 a comment in the name',
    'forbidden_markup',
    () => broken((xml) => xml.replace('employee-17', 'employee<!-- -->-17')),
  ],
  [
    'sso-125 a comment in the address',
    'forbidden_markup',
    () => broken((xml) => xml.replace('ada@corp.example', 'ada@corp.example<!-- -->.evil.example')),
  ],
  [
    'sso-125 a comment in the digest',
    'forbidden_markup',
    () => broken((xml) => xml.replace('<ds:DigestValue>', '<ds:DigestValue><!--x-->')),
  ],
  [
    'sso-125 a CDATA section',
    'forbidden_markup',
    () => broken((xml) => xml.replace('employee-17', '<![CDATA[employee-17]]>')),
  ],
  ['sso-125 an element in the name', 'no_subject', () => encode(signed({ nameId: 'employee<x>-17</x>' }))],
  ['sso-126 a document type', 'forbidden_markup', () => broken((xml) => `<!DOCTYPE r>${xml}`)],
  [
    'sso-126 an internal entity',
    'forbidden_markup',
    () => broken((xml) => `<!DOCTYPE r [<!ENTITY e "x">]>${xml.replace('employee-17', '&e;')}`),
  ],
  [
    'sso-126 an external entity',
    'forbidden_markup',
    () => broken((xml) => `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml}`),
  ],
  ['sso-126 an undeclared entity', 'forbidden_markup', () => broken((xml) => xml.replace('employee-17', '&e;'))],
  [
    'sso-126 a processing instruction',
    'forbidden_markup',
    () => broken((xml) => xml.replace('<samlp:Status>', '<?php x ?><samlp:Status>')),
  ],
  [
    'sso-126 too many levels',
    'too_large',
    () =>
      broken((xml) => xml.replace('<samlp:Status>', `${'<x>'.repeat(10_000)}${'</x>'.repeat(10_000)}<samlp:Status>`)),
  ],
  [
    'sso-126 too many bytes',
    'too_large',
    () => broken((xml) => xml.replace('<samlp:Status>', `<x a="${'y'.repeat(1024 * 1024)}"/><samlp:Status>`)),
  ],
  [
    'sso-126 too many elements',
    'too_large',
    () => broken((xml) => xml.replace('<samlp:Status>', `${'<x/>'.repeat(6000)}<samlp:Status>`)),
  ],
  ['sso-127 UTF-16', 'not_xml', () => Buffer.from(`\uFEFF${signed()}`, 'utf16le').toString('base64')],
  [
    'sso-127 invalid UTF-8',
    'not_xml',
    () => Buffer.concat([Buffer.from(signed()), Buffer.from([0xff])]).toString('base64'),
  ],
  ['sso-127 a byte order mark', 'not_xml', () => encode(`\uFEFF${signed()}`)],
  ['sso-127 a null character', 'not_xml', () => broken((xml) => xml.replace('employee-17', 'employee\0-17'))],
  [
    'sso-127 a null character as a reference',
    'not_xml',
    () => broken((xml) => xml.replace('employee-17', 'employee&#0;-17')),
  ],
  ['sso-127 deflated', 'not_xml', () => deflateRawSync(Buffer.from(signed())).toString('base64')],
  ['sso-127 invalid Base64', 'not_base64', () => signed()],
  ['sso-127 an empty message', 'not_base64', () => ''],
  ['sso-127 two documents', 'not_xml', () => broken((xml) => xml + xml)],
  ['sso-127 a truncated message', 'not_xml', () => broken((xml) => xml.slice(0, -20))],
  [
    'sso-127 a repeated attribute',
    'not_xml',
    () => broken((xml) => xml.replace('Version="2.0"', 'Version="2.0" Version="2.0"')),
  ],
  ['sso-127 text after the document', 'not_xml', () => broken((xml) => `${xml}x`)],
  [
    'sso-128 a transform that executes code',
    'malformed_signature',
    () =>
      broken((xml) =>
        xml.replace(
          `Transform Algorithm="${enveloped}"`,
          'Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"',
        ),
      ),
  ],
  [
    'sso-128 another canonicalization',
    'malformed_signature',
    () =>
      broken((xml) =>
        xml.replace(
          `CanonicalizationMethod Algorithm="${excC14n}"`,
          'CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"',
        ),
      ),
  ],
  [
    'sso-128 without the enveloped-signature transform',
    'malformed_signature',
    () => broken((xml) => xml.replace(/<ds:Transform Algorithm="[^"]*enveloped-signature"\/>/, '')),
  ],
  ['sso-131 for another audience', 'wrong_audience', other({ audiences: [['https://other.example']] })],
  ['sso-131 for no audience', 'wrong_audience', other({ audiences: [] })],
  [
    'sso-131 one wrong restriction of two',
    'wrong_audience',
    other({ audiences: [[expected.audience], ['urn:other']] }),
  ],
  ['sso-131 for another recipient', 'wrong_recipient', other({ acsUrl: 'https://other.example/acs' })],
  ['sso-131 for another destination', 'wrong_destination', other({ destination: 'https://other.example/acs' })],
  [
    'sso-131 of another issuer',
    'wrong_issuer',
    other({ issuer: 'https://other.example', responseIssuer: 'https://other.example' }),
  ],
  ['sso-131 of another issuer in the assertion', 'wrong_issuer', other({ issuer: 'https://other.example' })],
  ['sso-131 of another issuer in the response', 'wrong_issuer', other({ responseIssuer: 'https://other.example' })],
  ['sso-131 of the issuer of another tenant, by our key', 'wrong_issuer', other({}), { issuer: 'https://b.example' }],
  ['sso-134 expired', 'expired', other({ notOnOrAfter: -2 })],
  ['sso-134 just beyond the skew', 'expired', other({ notOnOrAfter: -1 })],
  ['sso-134 not yet valid', 'not_yet_valid', other({ notBefore: 2 })],
  ['sso-134 only the confirmation expired', 'expired', other({ confirmedUntil: -2 })],
  ['sso-134 a confirmation without an end', 'no_confirmation', other({ confirmedUntil: null })],
  ['sso-134 an expired session at the provider', 'expired', other({ sessionUntil: -2 })],
  [
    'sso-134 no conditions',
    'no_conditions',
    () => encode(sign(samlXml(usual).replace(/<saml:Conditions.*<\/saml:Conditions>/s, ''), { key })),
  ],
  [
    'sso-134 a time in another zone',
    'bad_time',
    () => encode(sign(samlXml(usual).replace(/(NotOnOrAfter="[^"Z]*)Z/, '$1+01:00'), { key })),
  ],
  ['sso-135 unsolicited', 'unsolicited', other({ inResponseTo: null, responseInResponseTo: null })],
  ['sso-135 the request only named in the unsigned response', 'unsolicited', other({ inResponseTo: null })],
  ['sso-135 to another request', 'unknown_request', other({ inResponseTo: '_request-2', responseInResponseTo: null })],
  [
    'sso-135 to another request according to the response',
    'unknown_request',
    other({ responseInResponseTo: '_request-2' }),
  ],
  ['sso-135 to a request that was never made', 'unknown_request', other({}), { inResponseTo: null }],
  [
    'sso-138 a failed sign-in at the provider',
    'status_not_success',
    other({ status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }),
  ],
  [
    'sso-138 no status',
    'status_not_success',
    () => encode(sign(samlXml(usual).replace(/<samlp:Status>.*<\/samlp:Status>/s, ''), { key })),
  ],
  [
    'sso-145 encrypted',
    'encrypted',
    () => broken((xml) => xml.replace(assertionOf(xml), '<saml:EncryptedAssertion/>')),
  ],
  [
    'an encrypted name ID',
    'encrypted',
    () => encode(sign(samlXml(usual).replace(/<saml:NameID.*<\/saml:NameID>/s, '<saml:EncryptedID/>'), { key })),
  ],
  ['no name ID', 'no_subject', other({ nameId: '' })],
  [
    'a confirmation other than bearer',
    'no_confirmation',
    () => encode(sign(samlXml(usual).replace('cm:bearer', 'cm:holder-of-key'), { key })),
  ],
  [
    'sso-134 an unknown condition',
    'unknown_condition',
    () => encode(sign(samlXml(usual).replace('</saml:Conditions>', '<saml:Condition/></saml:Conditions>'), { key })),
  ],
  [
    'two valid confirmations',
    'two_confirmations',
    () =>
      encode(
        sign(samlXml(usual).replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/s, '$&$&'), { key }),
      ),
  ],
  [
    'no AuthnStatement',
    'no_authentication',
    () => encode(sign(samlXml(usual).replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/s, ''), { key })),
  ],
  [
    'SAML 1.1',
    'not_a_response',
    () => encode(sign(samlXml(usual).replace('Version="2.0"', 'Version="1.1"'), { key, of: 'Response' })),
  ],
  [
    'a request',
    'not_a_response',
    () => encode('<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Version="2.0"/>'),
  ],
];

test.each(refused)('%s: rejects the SAML response as %s', (_, reason, response, differently = {}) => {
  const outcome = check(response(), differently);
  expect(outcome).toMatchObject({ ok: false, reason });
  expect((outcome as { detail: string }).detail).toMatch(/^[A-Z].{5,199}\.?\)?$/);
});

test('sso-126: rejects a response that is too large before parsing it', () => {
  // A parser that takes quadratic time would not finish reading these messages.
  const deep = encode(`<a>${'<b c="d">'.repeat(25_000)}`);
  const wide = encode(`<a${Array.from({ length: 20_000 }, (_, at) => ` a${at}="b"`).join('')}/>`);
  for (let count = 0; count < 20; count += 1) {
    expect([check(deep), check(wide)]).toMatchObject([{ reason: 'too_large' }, { reason: 'too_large' }]);
  }
});

describe('the certificates of a SAML provider', () => {
  test('sso-113: accepts pasted certificates with or without line breaks, and several together', () => {
    const bare = key.certificate.replaceAll(/-----.*-----|\n/g, '');
    expect(readSamlCertificates(bare)[0]?.pem.replaceAll('\n', '')).toBe(key.certificate.replaceAll('\n', ''));
    expect(readSamlCertificates(wrapped(bare))).toHaveLength(1);
    expect(readSamlCertificates(key.certificate + otherKey.certificate)).toHaveLength(2);
  });

  test('sso-113: accepts expired certificates, and returns their expiry date', () => {
    const { certificate } = createTestKey({ expiresAt: new Date('2026-11-01T00:00:00Z') });
    expect(readSamlCertificates(certificate)).toMatchObject([{ expiresAt: new Date('2026-11-01T00:00:00Z') }]);
  });

  test.each([
    ['nothing', ''],
    ['a word', 'MIIC'],
    ['a key', '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----'],
    ['a short RSA key', createTestKey({ bits: 1024 }).certificate],
    ['six certificates', sixKeys.map(({ certificate }) => certificate).join('')],
    ['the same certificate twice', key.certificate + otherKey.certificate + key.certificate.replaceAll('\n', '\r\n')],
  ])('sso-113: rejects a certificate field that contains %s', (_, text) => {
    expect(() => readSamlCertificates(text)).toThrow(
      expect.objectContaining({ kind: 'invalid', attr: 'saml_x509_cert' }),
    );
  });

  test('accepts at most five certificates', () => {
    const five = sixKeys.slice(1).map(({ certificate }) => certificate);
    expect(readSamlCertificates(five.join(''))).toHaveLength(5);
    const [last] = sixKeys.slice(-1);
    expect(check(encode(signed({}, { key: last ?? key })), { certificates: [five.join('')] })).toMatchObject({
      ok: true,
    });
  });
});

describe('SAML messages that Millrace sends', () => {
  test("sso-111: the metadata contains Millrace's URLs and no secrets", () => {
    const metadata = samlMetadata({ entityId: 'https://a.example/?a&b', acsUrl: 'https://a.example/complete/saml/' });
    for (const part of [
      'entityID="https://a.example/?a&#38;b"',
      'WantAssertionsSigned="true"',
      'HTTP-POST',
      'nameid-format:persistent',
      'Location="https://a.example/complete/saml/"',
    ]) {
      expect(metadata).toContain(part);
    }
  });

  test("a sign-in request contains its ID, and keeps the query string of the provider's URL", () => {
    const url = new URL(
      samlRequestUrl({
        signOnUrl: 'https://idp.example/sso?tenant=1',
        entityId: 'urn:sp',
        acsUrl: 'https://sp.example/acs',
        requestId: '_7',
        relayState: 'state',
        now,
        forceAuthn: true,
      }),
    );
    const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
    expect(url.searchParams.get('tenant')).toBe('1');
    expect(url.searchParams.get('RelayState')).toBe('state');
    for (const part of [
      'ID="_7"',
      'IssueInstant="2026-11-20T12:00:00Z"',
      'ForceAuthn="true"',
      '<saml:Issuer>urn:sp</saml:Issuer>',
    ]) {
      expect(xml).toContain(part);
    }
  });

  test.each([
    'http://idp.example',
    'https://a:b@idp.example',
    'https://idp.example/#x',
    'javascript:alert(1)',
    'idp',
    '',
  ])('sso-113: rejects %s as a sign-on URL', (text) => {
    expect(() => checkSignOnUrl(text)).toThrow(expect.objectContaining({ attr: 'saml_acs_url' }));
  });
  test.each(['https://idp.example/sso?x=1', 'http://127.0.0.1:8080/'])('sso-113: accepts %s as a sign-on URL', (text) =>
    expect(() => checkSignOnUrl(text)).not.toThrow(),
  );
});
