import { createHash, createSign } from 'node:crypto';
import type { TestKey } from '@millrace/testing/provider-key';
import { SignedXml } from 'xml-crypto';

export interface SamlResponseParts {
  issuer: string;
  responseIssuer: string | null;
  acsUrl: string;
  destination: string | null;
  audiences: string[][];
  /** The confirmation's attribute `InResponseTo`. Null omits the attribute. */
  inResponseTo: string | null;
  responseInResponseTo: string | null;
  nameId: string;
  nameIdFormat: string;
  attributes: Record<string, string[]>;
  now: Date;
  notBefore: number | null;
  notOnOrAfter: number | null;
  confirmedUntil: number | null;
  sessionUntil: number | null;
  /** Minutes since the user authenticated at the provider. */
  authenticated?: number;
  status: string;
  id: string;
  /** XML to insert into the assertion after its subject. */
  more: string;
}

const minutes = (now: Date, offset: number) =>
  `${new Date(now.getTime() + offset * 60_000).toISOString().slice(0, 19)}Z`;
const attribute = (name: string, value: string | null) => (value === null ? '' : ` ${name}="${value}"`);

export function samlXml(p: SamlResponseParts): string {
  const conditions = p.audiences
    .map(
      (ones) =>
        `<saml:AudienceRestriction>${ones.map((one) => `<saml:Audience>${one}</saml:Audience>`).join('')}</saml:AudienceRestriction>`,
    )
    .join('');
  const at = (offset: number | null) => (offset === null ? null : minutes(p.now, offset));
  const attributes = Object.entries(p.attributes)
    .map(
      ([name, values]) =>
        `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
    )
    .join('');
  return [
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"`,
    ` ID="_response-${p.id}" Version="2.0" IssueInstant="${minutes(p.now, 0)}"`,
    `${attribute('Destination', p.destination)}${attribute('InResponseTo', p.responseInResponseTo)}>`,
    p.responseIssuer === null ? '' : `<saml:Issuer>${p.responseIssuer}</saml:Issuer>`,
    `<samlp:Status><samlp:StatusCode Value="${p.status}"/></samlp:Status>`,
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_assertion-${p.id}" Version="2.0" IssueInstant="${minutes(p.now, 0)}">`,
    `<saml:Issuer>${p.issuer}</saml:Issuer>`,
    `<saml:Subject><saml:NameID Format="${p.nameIdFormat}">${p.nameId}</saml:NameID>`,
    '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">',
    `<saml:SubjectConfirmationData Recipient="${p.acsUrl}"${attribute('NotOnOrAfter', at(p.confirmedUntil))}${attribute('InResponseTo', p.inResponseTo)}/>`,
    '</saml:SubjectConfirmation></saml:Subject>',
    p.more,
    `<saml:Conditions${attribute('NotBefore', at(p.notBefore))}${attribute('NotOnOrAfter', at(p.notOnOrAfter))}>${conditions}</saml:Conditions>`,
    `<saml:AuthnStatement AuthnInstant="${minutes(p.now, -(p.authenticated ?? 0))}"${attribute('SessionNotOnOrAfter', at(p.sessionUntil))}><saml:AuthnContext/></saml:AuthnStatement>`,
    `<saml:AttributeStatement>${attributes}</saml:AttributeStatement>`,
    '</saml:Assertion></samlp:Response>',
  ].join('');
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const hashes: Record<string, string> = {
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha384: `${more}sha384`,
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
};

export interface Signing {
  key: TestKey;
  of?: 'Assertion' | 'Response';
  hash?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  digest?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** Transform algorithms to use in place of the correct ones. */
  transforms?: string[];
  canonicalization?: string;
}

export const excC14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

/** Signs one element of a response as providers do, with the signature directly after the issuer. */
export function sign(
  xml: string,
  {
    key,
    of = 'Assertion',
    hash = 'sha256',
    digest = hash,
    transforms = [enveloped, excC14n],
    canonicalization = excC14n,
  }: Signing,
): string {
  const isRsa = key.privateKey.asymmetricKeyType === 'rsa';
  const algorithm =
    hash === 'sha1' ? 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' : `${more}${isRsa ? 'rsa' : 'ecdsa'}-${hash}`;
  const signer = new SignedXml({
    privateKey: key.privateKey,
    publicCert: key.certificate,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: canonicalization as never,
  });
  signer.idAttributes = ['ID'];
  signer.HashAlgorithms = Object.fromEntries(
    Object.entries(hashes).map(([name, uri]) => [
      uri,
      class {
        getAlgorithmName = () => uri;
        getHash = (text: string) => createHash(name).update(text, 'utf8').digest('base64');
      },
    ]),
  ) as never;
  signer.SignatureAlgorithms = {
    [algorithm]: class {
      getAlgorithmName = () => algorithm;
      getSignature = (text: string) =>
        createSign(hash)
          .update(text)
          .sign({ key: key.privateKey, ...(!isRsa && { dsaEncoding: 'ieee-p1363' as const }) }, 'base64');
      verifySignature = () => false;
    },
  } as never;
  const xpath = `//*[local-name(.)='${of}']`;
  signer.addReference({ xpath, transforms: transforms as never, digestAlgorithm: hashes[digest] as never });
  const issuer = `${xpath}/*[local-name(.)='Issuer']`;
  signer.computeSignature(xml, { prefix: 'ds', location: { reference: issuer, action: 'after' } });
  return signer.getSignedXml();
}

export const encode = (xml: string): string => Buffer.from(xml).toString('base64');
