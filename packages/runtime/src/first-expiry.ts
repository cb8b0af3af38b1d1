import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** When the first of the certificates in a file expires, in ms since 1970; null when there is none that can be read. */
export function firstExpiry(file: string): number | null {
  try {
    const certificates = readFileSync(file, 'utf8').match(pem) ?? [];
    const expiries = certificates.map((text) => Date.parse(new X509Certificate(text).validTo));
    const first = Math.min(...expiries);
    return Number.isFinite(first) ? first : null;
  } catch {
    return null;
  }
}
