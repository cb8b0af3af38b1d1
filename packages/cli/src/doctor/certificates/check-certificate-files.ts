import { firstExpiry } from '@millrace/runtime';
import { type Finding, ok, problem, warning } from '../finding.ts';

const certificateSettings = [
  ...['DATABASE_SSL_CA_FILE', 'DATABASE_SSL_CERT_FILE', 'PGSSLROOTCERT'],
  ...['KAFKA_SSL_CA_FILE', 'KAFKA_SSL_CERT_FILE', 'REDIS_CA_FILE'],
];
const dayMs = 86_400_000;
const warnDays = 21;

/** The certificates that settings name; of several in one file, the first to expire counts. */
export function checkCertificateFiles(env: Record<string, string | undefined>, now = Date.now()): Finding[] {
  const named = certificateSettings.flatMap((name) => {
    const file = env[name]?.trim();
    return file ? [{ name, file }] : [];
  });
  if (named.length === 0) return [ok('no setting names one')];
  return named.map(({ name, file }) => judge(name, firstExpiry(file), now));
}

function judge(name: string, expiry: number | null, now: number): Finding {
  if (expiry === null) {
    return problem(`${name} names no certificate that can be read`, 'give the path of a PEM file this user may read');
  }
  const day = new Date(expiry).toISOString().slice(0, 10);
  const advice = 'put a new certificate into the file: new connections use it';
  if (expiry <= now) return problem(`${name}: a certificate expired on ${day}`, advice);
  const days = Math.floor((expiry - now) / dayMs);
  if (days < warnDays) return warning(`${name}: a certificate expires in ${days} days, on ${day}`, advice);
  return ok(`${name}: valid until ${day}`);
}
