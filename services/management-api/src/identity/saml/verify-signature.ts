// Verifies XML signatures in the only form that SAML needs: an enveloped signature of its parent element, created with
// a configured certificate. `xml-crypto` performs the cryptography. This file decides which algorithms and forms are
// accepted (docs/decisions/038-saml-checks.md).

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';

export const dsig = 'http://www.w3.org/2000/09/xmldsig#';
const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const excC14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = `${dsig}enveloped-signature`;
const digests: Record<string, string> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  [`${more}sha384`]: 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
};
const signatures: Record<string, { type: 'rsa' | 'ec'; digest: string }> = Object.fromEntries(
  ['sha256', 'sha384', 'sha512'].flatMap((digest) => [
    [`${more}rsa-${digest}`, { type: 'rsa', digest }],
    [`${more}ecdsa-${digest}`, { type: 'ec', digest }],
  ]),
);

export type SignatureProblem = 'malformed_signature' | 'weak_algorithm' | 'wrong_signature';
export type SignatureCheck =
  /** `signed` is the exact XML that was digested. Callers must not read anything else. */
  { ok: true; signed: string } | { ok: false; problem: SignatureProblem; detail: string };

/**
 * Verifies a signature against a provider's certificates.
 * @param xml the complete XML document
 * @param signature a child of the element that it signs. No other element can have the same `ID` as its parent.
 * @param certificates the provider's certificates in PEM format
 */
export function verifySignature(xml: string, signature: Element, certificates: readonly string[]): SignatureCheck {
  const form = formOf(signature);
  if (!form.ok) return form;
  const keys = certificates.map((pem) => createPublicKey(pem)).filter((key) => key.asymmetricKeyType === form.keyType);
  const signed = keys.length > 0 ? checked(xml, signature, keys) : null;
  if (signed !== null) return { ok: true, signed };
  return problem(
    'wrong_signature',
    'The signature does not match a configured certificate, or the signed content was changed.',
  );
}

function problem(name: SignatureProblem, detail: string): { ok: false; problem: SignatureProblem; detail: string } {
  return { ok: false, problem: name, detail };
}

/** Canonicalizes and digests the XML only once, because this is slow for large documents. Then tries each key. */
function checked(xml: string, signature: Element, keys: readonly KeyObject[]): string | null {
  // The key never comes from the XML document, and only the algorithms below are accepted. `publicCert` must be set but
  // is not used.
  const verifier = new SignedXml({ publicCert: keys[0], getCertFromKeyInfo: () => null });
  verifier.idAttributes = ['ID'];
  verifier.HashAlgorithms = Object.fromEntries(
    Object.entries(digests).map(([name, digest]) => [name, hashAlgorithm(name, digest)]),
  ) as never;
  verifier.SignatureAlgorithms = Object.fromEntries(
    Object.entries(signatures).map(([name, { digest }]) => [name, signatureAlgorithm(name, digest, keys)]),
  ) as never;
  try {
    verifier.loadSignature(signature as never);
    if (!verifier.checkSignature(xml)) return null;
  } catch {
    return null;
  }
  const [signed, ...others] = verifier.getSignedReferences();
  return signed === undefined || others.length > 0 ? null : signed;
}

function hashAlgorithm(name: string, digest: string) {
  return class {
    getAlgorithmName = () => name;
    getHash = (xml: string) => createHash(digest).update(xml, 'utf8').digest('base64');
  };
}

function signatureAlgorithm(name: string, digest: string, keys: readonly KeyObject[]) {
  return class {
    getAlgorithmName = () => name;
    getSignature = () => {
      throw new Error('Signing is not supported.');
    };
    verifySignature = (material: string, _key: unknown, value: string) =>
      keys.some((key) => {
        const encoding = key.asymmetricKeyType === 'ec' ? { dsaEncoding: 'ieee-p1363' as const } : {};
        return verify(digest, Buffer.from(material, 'utf8'), { key, ...encoding }, Buffer.from(value, 'base64'));
      });
  };
}

/**
 * Checks that a signature has exactly one reference, and that it refers to the signature's parent element. No other
 * form is accepted.
 */
function formOf(signature: Element): { ok: true; keyType: 'rsa' | 'ec' } | ReturnType<typeof problem> {
  const malformed = (detail: string) => problem('malformed_signature', detail);
  const parts = listElements(signature);
  const names = parts.map((part) => (part.namespaceURI === dsig ? part.localName : '?')).join(' ');
  if (!/^SignedInfo SignatureValue( KeyInfo)?$/.test(names)) {
    return malformed('A signature must contain only SignedInfo, SignatureValue and KeyInfo.');
  }
  const [info] = parts as [Element];
  const [canonicalization, method, reference, ...others] = listElements(info);
  if (!canonicalization || !method || !reference || others.length > 0) {
    return malformed('A signature must have exactly one Reference.');
  }
  const isNamed = (element: Element, name: string) => element.namespaceURI === dsig && element.localName === name;
  if (!isNamed(canonicalization, 'CanonicalizationMethod') || !isNamed(method, 'SignatureMethod')) {
    return malformed('A signature does not specify its CanonicalizationMethod and SignatureMethod.');
  }
  if (canonicalization.getAttribute('Algorithm') !== excC14n) {
    return malformed('A signature must use exclusive canonicalization.');
  }
  const own = (signature.parentNode as Element).getAttribute('ID');
  if (!isNamed(reference, 'Reference') || !own || reference.getAttribute('URI') !== `#${own}`) {
    return malformed('A signature must refer to the element that contains it.');
  }
  const [transforms, digestMethod, digestValue, ...rest] = listElements(reference);
  if (!transforms || !digestMethod || !digestValue || rest.length > 0 || !isNamed(transforms, 'Transforms')) {
    return malformed('The Reference of a signature must contain Transforms, DigestMethod and DigestValue.');
  }
  const applied = listElements(transforms).map((element) => element.getAttribute('Algorithm'));
  if (applied.join(' ') !== `${enveloped} ${excC14n}`) {
    return malformed('A signature uses transforms that are not accepted.');
  }
  const [algorithm, digest] = [method.getAttribute('Algorithm') ?? '', digestMethod.getAttribute('Algorithm') ?? ''];
  const known = Object.hasOwn(signatures, algorithm) ? signatures[algorithm] : undefined;
  if (known === undefined || !Object.hasOwn(digests, digest)) {
    const named =
      (known === undefined ? algorithm : digest)
        .split(/[#/]/)
        .at(-1)
        ?.replaceAll(/[^\w-]/g, '') ?? '';
    return problem(
      'weak_algorithm',
      `The signature uses ${named || 'an unknown algorithm'}, which is not accepted. Use RSA or ECDSA with SHA-256 or stronger.`,
    );
  }
  return { ok: true, keyType: known.type };
}

export function listElements(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node): node is Element => node.nodeType === 1);
}
