import { firstExpiry } from './first-expiry.ts';
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
    'When the certificate of a setting expires, Unix time; NaN when its file cannot be read',
    ['setting'],
  );
  Object.assign(expiry, {
    collect() {
      for (const [setting, file] of files) expiry.set({ setting }, (firstExpiry(file) ?? Number.NaN) / 1000);
    },
  });
}
