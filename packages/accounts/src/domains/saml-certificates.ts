/** Certificates of SAML providers, as people paste them. */

import { X509Certificate } from 'node:crypto';
import { AppError } from '@millrace/runtime';

export interface SamlCertificate {
  pem: string;
  expiresAt: Date;
}

const smallestRsaBits = 2048;

/**
 * One certificate or several, with or without the lines around them.
 * @returns also those whose time is over: they go on working, and are told of.
 * @throws AppError `invalid` naming `saml_x509_cert`.
 */
export function readSamlCertificates(text: string): SamlCertificate[] {
  const pieces = text
    .split(/-----(?:BEGIN|END) CERTIFICATE-----/)
    .map((piece) => piece.replaceAll(/\s+/g, ''))
    .filter((piece) => piece !== '');
  if (pieces.length === 0) throw noCertificate('There is no certificate.');
  return pieces.map(readCertificate);
}

function readCertificate(base64: string): SamlCertificate {
  let certificate: X509Certificate;
  try {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new Error('Not base64.');
    certificate = new X509Certificate(Buffer.from(base64, 'base64'));
  } catch (cause) {
    throw noCertificate('This is not a certificate. Paste what stands between BEGIN and END CERTIFICATE.', cause);
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  if (type !== 'rsa' && type !== 'ec')
    throw noCertificate('The key of the certificate is neither RSA nor of an elliptic curve.');
  if (type === 'rsa' && (details?.modulusLength ?? 0) < smallestRsaBits) {
    throw noCertificate(`The RSA key of the certificate has less than ${smallestRsaBits} bits.`);
  }
  return { pem: certificate.toString(), expiresAt: new Date(certificate.validTo) };
}

function noCertificate(detail: string, cause?: unknown): AppError {
  return new AppError('invalid', detail, { code: 'invalid_certificate', attr: 'saml_x509_cert', cause });
}
