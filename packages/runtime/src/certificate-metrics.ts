/** Reads the expiry times of certificate files and exports them as metrics. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Metrics } from './metrics.ts';

/**
 * Matches settings that contain the path of a certificate file. If the file contains several certificates, the earliest
 * expiry time is exported.
 */
const certificateSetting = /(?:Ca|Cert)File$/;

/**
 * Exports the expiry times of configured certificates. Reads the files at each scrape, because operators can replace
 * them.
 */
export function exportCertificateExpiry(config: object, metrics: Metrics): void {
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
      for (const [setting, file] of files) expiry.set({ setting }, (readEarliestExpiry(file) ?? Number.NaN) / 1000);
    },
  });
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Returns the earliest expiry time of a file's certificates in milliseconds since 1970, or null if the file contains no
 * readable certificate.
 */
export function readEarliestExpiry(file: string): number | null {
  try {
    const certificates = readFileSync(file, 'utf8').match(pem) ?? [];
    const expiries = certificates.map((text) => Date.parse(new X509Certificate(text).validTo));
    const first = Math.min(...expiries);
    return Number.isFinite(first) ? first : null;
  } catch {
    return null;
  }
}
