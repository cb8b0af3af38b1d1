/** Reads the expiry times of certificate files and exports them as metrics. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Metrics } from './metrics.ts';

/** Settings that name a certificate; a file of authorities may hold several, and the first to expire counts. */
const certificateSetting = /(?:Ca|Cert)File$/;

/** Tells when the certificates that the settings name expire; read again each time, since files are exchanged. */
export function reportCertificates(config: object, metrics: Metrics): void {
  const files = Object.entries(config).filter(
    (entry): entry is [string, string] => certificateSetting.test(entry[0]) && typeof entry[1] === 'string',
  );
  if (files.length === 0) return;
  const expiry = metrics.gauge(
    'millrace_certificate_expiry_timestamp_seconds',
    'Expiry time of the certificate file in a setting, as Unix time in seconds. If the file contains several certificates, the earliest expiry time. NaN if the file cannot be read',
    ['setting'],
  );
  Object.assign(expiry, {
    collect() {
      for (const [setting, file] of files) expiry.set({ setting }, (firstExpiry(file) ?? Number.NaN) / 1000);
    },
  });
}

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
