// Validates a SAML provider's response, and reads the user's identity from its SAML assertion (SAML 2.0 core; profiles
// 4.1.4). Reads only the bytes whose signature was verified. Rejects a response with anything unusual in it.

import { readSamlCertificates } from '@millrace/accounts';
import type { Element } from '@xmldom/xmldom';
import { decodeText, readXml, UnreadableXml, type XmlProblem } from './read-xml.ts';
import { dsig, listElements, type SignatureProblem, verifySignature } from './verify-signature.ts';

const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const assertionNs = 'urn:oasis:names:tc:SAML:2.0:assertion';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

export type SamlRefusal =
  | XmlProblem
  | SignatureProblem
  | 'not_base64'
  | 'not_a_response'
  | 'status_not_success'
  | 'encrypted'
  | 'no_assertion'
  | 'two_assertions'
  | 'misplaced_signature'
  | 'repeated_id'
  | 'not_signed'
  | 'wrong_issuer'
  | 'wrong_destination'
  | 'wrong_recipient'
  | 'wrong_audience'
  | 'no_conditions'
  | 'no_confirmation'
  | 'two_confirmations'
  | 'unknown_condition'
  | 'no_authentication'
  | 'not_yet_valid'
  | 'expired'
  | 'unsolicited'
  | 'unknown_request'
  | 'bad_time'
  | 'no_subject';

export interface SamlExpectation {
  issuer: string;
  /** Certificates as the administrator pasted them. One string can contain several certificates. */
  certificates: readonly string[];
  acsUrl: string;
  /** This service provider's entity ID. */
  audience: string;
  /** The sign-in request's ID, or null to accept an unsolicited response if the domain allows such responses. */
  inResponseTo: string | null;
  now: Date;
}

export interface SamlIdentity {
  nameId: string;
  nameIdFormat: string;
  /**
   * A name ID that identifies the account even if its email address changes. Null if the provider sends a different
   * name ID at every sign-in.
   */
  subject: string | null;
  email: string | null;
  firstName: string;
  lastName: string;
  attributes: Record<string, string[]>;
}

export type SamlOutcome =
  | {
      ok: true;
      identity: SamlIdentity;
      assertionId: string;
      /** Until this time, the assertion ID must be stored, so that the same assertion is not accepted twice. */
      rememberUntil: Date;
      authenticatedAt: Date;
    }
  | { ok: false; reason: SamlRefusal; detail: string };

/** Allowed clock difference between the provider and this server, in milliseconds. */
const skewMs = 60_000;

class Refused extends Error {
  readonly reason: SamlRefusal;

  constructor(reason: SamlRefusal, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/**
 * Validates a response and reads the identity in it. Never throws, no matter what a provider or a browser sends.
 * @param encoded the value of the form field `SAMLResponse`: Base64 that can contain line breaks
 */
export function checkSamlResponse(encoded: string, expected: SamlExpectation): SamlOutcome {
  try {
    const xml = decodeText(decodeBase64(encoded));
    const { root } = readXml(xml);
    return { ok: true, ...checkResponse(xml, root, expected) };
  } catch (error) {
    if (error instanceof UnreadableXml) return { ok: false, reason: error.problem, detail: error.message };
    if (error instanceof Refused) return { ok: false, reason: error.reason, detail: error.message.slice(0, 200) };
    throw error;
  }
}

function decodeBase64(encoded: string): Buffer {
  const text = encoded.replaceAll(/[\s]+/g, '');
  if (text === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new Refused('not_base64', 'The SAML response is not valid Base64.');
  return Buffer.from(text, 'base64');
}

function checkResponse(xml: string, root: Element, expected: SamlExpectation) {
  if (!isA(root, protocol, 'Response') || root.getAttribute('Version') !== '2.0') {
    throw new Refused('not_a_response', 'The message is not a SAML 2.0 response.');
  }
  requireSuccess(root);
  const all = Array.from(root.getElementsByTagName('*'));
  requireUniqueIds([root, ...all]);
  const assertion = onlyAssertion(root, all);
  const { response, signedAssertion } = verified(xml, { root, assertion, all }, expected);

  // The response element itself may be unsigned. Its attributes must match, but do not prove anything.
  checkEnvelope(response, expected);
  return readAssertion(signedAssertion, expected);
}

function requireSuccess(root: Element): void {
  const status = only(root, protocol, 'Status');
  const code = status && only(status, protocol, 'StatusCode');
  const value = code?.getAttribute('Value') ?? '';
  if (value === success) return;
  const inner = code ? only(code, protocol, 'StatusCode')?.getAttribute('Value') : null;
  const short = (text: string) => text.split(':').at(-1)?.slice(0, 60) ?? '';
  const message = status ? textOf(only(status, protocol, 'StatusMessage') ?? null).slice(0, 80) : '';
  const reason = [short(value), inner ? short(inner) : '', message].filter(Boolean).join(', ');
  throw new Refused('status_not_success', `The provider did not sign in the user (${reason || 'no status'}).`);
}

function requireUniqueIds(elements: Element[]): void {
  const seen = new Set<string>();
  for (const element of elements) {
    for (const name of ['ID', 'Id', 'id', 'xml:id']) {
      const id = element.getAttribute(name);
      if (!id) continue;
      if (seen.has(id)) throw new Refused('repeated_id', 'Two elements in the SAML response have the same ID.');
      seen.add(id);
    }
  }
}

function onlyAssertion(root: Element, all: Element[]): Element {
  if (all.some((element) => /^Encrypted(Assertion|ID|Attribute|Data)$/.test(element.localName ?? ''))) {
    throw new Refused(
      'encrypted',
      'The SAML response is encrypted. Turn off encryption at the provider: the connection is already protected by TLS.',
    );
  }
  const assertions = all.filter((element) => element.localName === 'Assertion');
  const [assertion, another] = assertions;
  if (another) throw new Refused('two_assertions', 'The SAML response contains more than one assertion.');
  if (!assertion) throw new Refused('no_assertion', 'The SAML response does not contain an assertion.');
  if (!isA(assertion, assertionNs, 'Assertion') || assertion.parentNode !== root) {
    throw new Refused(
      'no_assertion',
      'The assertion is not directly inside the SAML response, or has the wrong namespace.',
    );
  }
  return assertion;
}

/** Verifies the signature, and then parses the response and the assertion again from the signed bytes. */
function verified(
  xml: string,
  { root, assertion, all }: { root: Element; assertion: Element; all: Element[] },
  { certificates }: SamlExpectation,
): { response: Element; signedAssertion: Element } {
  const found = all.filter((element) => element.localName === 'Signature');
  if (found.length === 0) throw new Refused('not_signed', 'Neither the SAML response nor its assertion is signed.');
  const isIn = (parent: Element) => (element: Element) =>
    element.parentNode === parent && element.namespaceURI === dsig;
  const [ofResponse, ofAssertion] = [found.filter(isIn(root)), found.filter(isIn(assertion))];
  if (ofResponse.length + ofAssertion.length !== found.length || ofResponse.length > 1 || ofAssertion.length > 1) {
    throw new Refused('misplaced_signature', 'A signature is in the wrong place, or an element has two signatures.');
  }
  const pems = certificates.flatMap((text) => readSamlCertificates(text).map(({ pem }) => pem));
  const read = (signature: Element): Element => {
    const outcome = verifySignature(xml, signature, pems);
    if (!outcome.ok) throw new Refused(outcome.problem, outcome.detail);
    return readXml(outcome.signed).root;
  };
  const response = ofResponse[0] ? read(ofResponse[0]) : root;
  const signedAssertion = ofAssertion[0] ? read(ofAssertion[0]) : only(response, assertionNs, 'Assertion');
  if (!signedAssertion || !isA(signedAssertion, assertionNs, 'Assertion') || !isA(response, protocol, 'Response')) {
    throw new Refused('wrong_signature', 'The signature does not cover the SAML response or its assertion.');
  }
  return { response, signedAssertion };
}

function checkEnvelope(response: Element, { issuer, acsUrl, inResponseTo }: SamlExpectation): void {
  const own = only(response, assertionNs, 'Issuer');
  if (own) requireSame('wrong_issuer', 'The issuer of the SAML response is', textOf(own), issuer);
  const destination = response.getAttribute('Destination');
  if (destination) requireSame('wrong_destination', 'The destination of the SAML response is', destination, acsUrl);
  const requestId = response.getAttribute('InResponseTo');
  if (requestId) requireRequest(requestId, inResponseTo);
}

function requireSame(reason: SamlRefusal, words: string, found: string, expectedValue: string): void {
  if (found === expectedValue) return;
  throw new Refused(reason, `${words} ${found.slice(0, 70) || '(empty)'}, not ${expectedValue.slice(0, 70)}.`);
}

function requireRequest(found: string, expectedValue: string | null): void {
  if (expectedValue === null || found !== expectedValue) {
    throw new Refused('unknown_request', 'The SAML response belongs to a different sign-in request (InResponseTo).');
  }
}

function readAssertion(assertion: Element, expected: SamlExpectation) {
  const { now, issuer } = expected;
  const assertionId = assertion.getAttribute('ID') ?? '';
  if (assertion.getAttribute('Version') !== '2.0' || assertionId === '') {
    throw new Refused('not_a_response', 'The assertion is not a SAML 2.0 assertion.');
  }
  requireSame(
    'wrong_issuer',
    'The issuer of the assertion is',
    textOf(only(assertion, assertionNs, 'Issuer') ?? null),
    issuer,
  );
  const conditionsUntil = checkConditions(assertion, expected);
  const subject = only(assertion, assertionNs, 'Subject');
  const nameId = subject && only(subject, assertionNs, 'NameID');
  if (!subject || !nameId || textOf(nameId) === '')
    throw new Refused('no_subject', 'The assertion does not identify the user (NameID).');
  const confirmedUntil = checkConfirmation(subject, expected);
  const statements = named(assertion, assertionNs, 'AuthnStatement');
  for (const statement of statements) {
    checkTimes(statement, { until: 'SessionNotOnOrAfter', now, what: 'The provider session' });
  }
  const instants = statements.map((statement) => timeOf(statement, 'AuthnInstant') ?? 0);
  if (instants.length === 0)
    throw new Refused('no_authentication', 'The assertion does not say how the user signed in (AuthnStatement).');
  const rememberUntil = new Date(Math.max(conditionsUntil, confirmedUntil) + skewMs);
  const authenticatedAt = new Date(Math.max(...instants));
  return { identity: identityOf(nameId, attributesIn(assertion)), assertionId, rememberUntil, authenticatedAt };
}

/**
 * Known conditions of assertions. `OneTimeUse` is always met, because Millrace never accepts an assertion twice.
 * `ProxyRestriction` applies only to services that pass assertions on, and Millrace does not pass them on.
 */
const knownConditions = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'];

/**
 * Checks an assertion's conditions.
 * @returns the end of the assertion's validity in milliseconds, or 0 if only the confirmation has an end
 */
function checkConditions(assertion: Element, { audience, now }: SamlExpectation): number {
  const conditions = only(assertion, assertionNs, 'Conditions');
  if (!conditions) throw new Refused('no_conditions', 'The assertion does not contain Conditions.');
  const until = checkTimes(conditions, { from: 'NotBefore', until: 'NotOnOrAfter', now, what: 'The assertion' });
  // An unknown condition counts as not met (SAML core 2.5.1).
  const unknown = listElements(conditions).find(
    (one) => !knownConditions.some((condition) => isA(one, assertionNs, condition)),
  );
  if (unknown) throw new Refused('unknown_condition', 'The assertion contains a condition that is not supported.');
  const restrictions = named(conditions, assertionNs, 'AudienceRestriction');
  if (restrictions.length === 0)
    throw new Refused('wrong_audience', 'The assertion does not specify its audience (AudienceRestriction).');
  for (const restriction of restrictions) {
    const audiences = named(restriction, assertionNs, 'Audience').map(textOf);
    if (!audiences.includes(audience))
      requireSame('wrong_audience', 'The audience of the assertion is', audiences.join(' '), audience);
  }
  return until;
}

/**
 * Requires exactly one valid subject confirmation. If none is valid, throws the error of the first one.
 * @returns the end of the confirmation's validity in milliseconds
 */
function checkConfirmation(subject: Element, expected: SamlExpectation): number {
  const held: number[] = [];
  let first: Refused | undefined;
  for (const confirmation of named(subject, assertionNs, 'SubjectConfirmation')) {
    if (confirmation.getAttribute('Method') !== bearer) continue;
    try {
      held.push(endOfConfirmation(confirmation, expected));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      first ??= error;
    }
  }
  const [end, another] = held;
  if (end === undefined) {
    throw first ?? new Refused('no_confirmation', 'The assertion does not contain a bearer SubjectConfirmation.');
  }
  if (another !== undefined)
    throw new Refused('two_confirmations', 'The assertion contains two valid SubjectConfirmation elements.');
  return end;
}

function endOfConfirmation(confirmation: Element, { acsUrl, inResponseTo, now }: SamlExpectation): number {
  const data = only(confirmation, assertionNs, 'SubjectConfirmationData');
  if (!data?.getAttribute('NotOnOrAfter'))
    throw new Refused('no_confirmation', 'The SubjectConfirmation does not say when it expires (NotOnOrAfter).');
  requireSame('wrong_recipient', 'The recipient of the assertion is', data.getAttribute('Recipient') ?? '', acsUrl);
  const until = checkTimes(data, { from: 'NotBefore', until: 'NotOnOrAfter', now, what: 'The SubjectConfirmation' });
  const requestId = data.getAttribute('InResponseTo');
  if (inResponseTo !== null && !requestId)
    throw new Refused('unsolicited', 'The SAML response does not belong to a sign-in request (InResponseTo).');
  if (requestId) requireRequest(requestId, inResponseTo);
  return until;
}

/**
 * Checks that an element is currently valid.
 * @returns the end of the element's validity in milliseconds, or 0 if its validity has no end
 */
function checkTimes(
  element: Element,
  { from, until, now, what }: { from?: string; until: string; now: Date; what: string },
): number {
  const start = from === undefined ? null : timeOf(element, from);
  const end = timeOf(element, until);
  if (start !== null && start - skewMs > now.getTime()) {
    throw new Refused(
      'not_yet_valid',
      `${what} is not valid before ${new Date(start).toISOString()}. Check the clocks of this server and the ` +
        'provider.',
    );
  }
  if (end !== null && end + skewMs <= now.getTime()) {
    throw new Refused(
      'expired',
      `${what} expired at ${new Date(end).toISOString()}. Check the clocks of this server and the provider.`,
    );
  }
  return end ?? 0;
}

function timeOf(element: Element, name: string): number | null {
  const text = element.getAttribute(name);
  if (!text) return null;
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new Refused('bad_time', `${name} is not a valid UTC time (${text.slice(0, 40)}).`);
  return time;
}

function attributesIn(assertion: Element): Record<string, string[]> {
  const found = named(assertion, assertionNs, 'AttributeStatement').flatMap((statement) =>
    named(statement, assertionNs, 'Attribute'),
  );
  const entries = found.slice(0, 100).map((attribute) => [
    (attribute.getAttribute('Name') ?? '').slice(0, 300),
    named(attribute, assertionNs, 'AttributeValue')
      .slice(0, 50)
      .map((value) => textOf(value).slice(0, 1000)),
  ]);
  return Object.fromEntries(entries);
}

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
const attributeNames = {
  id: ['name_id', 'NAME_ID', 'nameId', 'urn:oid:0.9.2342.19200300.100.1.1'],
  email: ['email', 'EMAIL', `${claims}emailaddress`, 'urn:oid:0.9.2342.19200300.100.1.3'],
  firstName: ['first_name', 'FIRST_NAME', 'firstName', `${claims}givenname`, 'urn:oid:2.5.4.42'],
  lastName: ['last_name', 'LAST_NAME', 'lastName', `${claims}surname`, 'urn:oid:2.5.4.4'],
  fullName: ['full_name', 'FULL_NAME', 'fullName', 'urn:oid:2.5.4.3'],
};

function identityOf(nameIdElement: Element, attributes: Record<string, string[]>): SamlIdentity {
  const nameId = textOf(nameIdElement);
  const nameIdFormat = nameIdElement.getAttribute('Format') ?? '';
  const first = (names: string[]) => {
    const name = names.find((known) => Object.hasOwn(attributes, known) && attributes[known]?.[0]);
    return name === undefined ? '' : (attributes[name]?.[0] ?? '');
  };
  const [whole = '', ...rest] = first(attributeNames.fullName).split(' ');
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(nameId);
  return {
    nameId,
    nameIdFormat,
    subject: first(attributeNames.id) || (nameIdFormat === transient ? null : nameId),
    email: first(attributeNames.email) || (isAddress ? nameId : null),
    firstName: first(attributeNames.firstName) || whole,
    lastName: first(attributeNames.lastName) || rest.join(' '),
    attributes,
  };
}

function isA(element: Element, namespace: string, name: string): boolean {
  return element.namespaceURI === namespace && element.localName === name;
}

function named(parent: Element, namespace: string, name: string): Element[] {
  return listElements(parent).filter((element) => isA(element, namespace, name));
}

/** Returns the only child element with this name. Returns undefined if no child or several children have the name. */
function only(parent: Element, namespace: string, name: string): Element | undefined {
  const found = named(parent, namespace, name);
  return found.length === 1 ? found[0] : undefined;
}

/** Returns an element's text content, or an empty string if the element contains other elements. */
function textOf(element: Element | null): string {
  return element === null || listElements(element).length > 0 ? '' : (element.textContent ?? '').trim();
}
