/** Parses SAML certificates that users paste into a form. */

import { X509Certificate } from 'node:crypto';
import { AppError } from '@millrace/runtime';

export interface SamlCertificate {
  pem: string;
  expiresAt: Date;
}

const smallestRsaBits = 2048;
/**
 * Maximum number of certificates. A SAML response may have to be verified against every certificate, so the number is
 * limited. A certificate rotation needs two.
 */
const maxCertificates = 5;

/**
 * Parses one or more certificates, with or without the BEGIN and END lines.
 *
 * Accepts expired certificates. SAML trusts a configured certificate only as a key, and most identity providers keep
 * signing with an expired certificate. Rejecting such a certificate would lock out an entire organization overnight.
 * Administrators get emails before a certificate expires instead (docs/api/domains.md).
 *
 * @throws AppError `invalid` naming `saml_x509_cert`
 */
export function readSamlCertificates(text: string): SamlCertificate[] {
  const pieces = splitSamlCertificates(text);
  if (pieces.length === 0) throw noCertificate('Enter at least one certificate in PEM format.');
  return pieces.map(readCertificate);
}

/**
 * Splits the pasted text into the base64 content of each certificate. Does not check whether the content is a valid
 * certificate.
 * @throws AppError `invalid` naming `saml_x509_cert` for more than five certificates or a duplicate
 */
export function splitSamlCertificates(text: string): string[] {
  const pieces = text
    .split(/-----(?:BEGIN|END) CERTIFICATE-----/)
    .map((piece) => piece.replaceAll(/\s+/g, ''))
    .filter((piece) => piece !== '');
  if (pieces.length > maxCertificates) {
    throw noCertificate(`At most ${maxCertificates} certificates are allowed. Remove those that you no longer use.`);
  }
  if (new Set(pieces).size < pieces.length) {
    throw noCertificate('The same certificate is listed twice. Remove one of the copies.');
  }
  return pieces;
}

function readCertificate(base64: string): SamlCertificate {
  let certificate: X509Certificate;
  try {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new Error('Not base64.');
    certificate = new X509Certificate(Buffer.from(base64, 'base64'));
  } catch (cause) {
    throw noCertificate(
      'This is not a valid certificate. Paste the complete text from BEGIN CERTIFICATE to END CERTIFICATE.',
      cause,
    );
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  if (type !== 'rsa' && type !== 'ec') throw noCertificate('The certificate must have an RSA or elliptic-curve key.');
  if (type === 'rsa' && (details?.modulusLength ?? 0) < smallestRsaBits) {
    throw noCertificate(`The certificate's RSA key must have at least ${smallestRsaBits} bits.`);
  }
  return { pem: certificate.toString(), expiresAt: new Date(certificate.validTo) };
}

function noCertificate(detail: string, cause?: unknown): AppError {
  return new AppError('invalid', detail, { code: 'invalid_certificate', attr: 'saml_x509_cert', cause });
}
