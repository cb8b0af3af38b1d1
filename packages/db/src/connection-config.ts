import { createSecureContext, type SecureContext } from 'node:tls';
import { ConfigError, readEnvironment, readPemFile } from '@millrace/runtime';
import pg from 'pg';

const modes = ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify', 'disable'];
const parameters = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'] as const;
type Parameters = { [Name in (typeof parameters)[number]]?: string };

/**
 * Returns the connection settings for a database URL. TLS is configured by the URL, or otherwise by `PGSSLMODE` and
 * `PGSSLROOTCERT`:
 *
 * - Unset or `sslmode=disable`: no TLS.
 * - `sslmode=verify-full`: TLS with a certificate for this host, from a trusted authority or the one in the file
 *   `sslrootcert`. `require`, `verify-ca` and `prefer` mean the same. PostgreSQL's weaker interpretations, in
 *   particular falling back to an unencrypted connection, are not supported.
 * - `sslmode=no-verify`: TLS without checking the certificate.
 *
 * The driver would ignore parameters that it does not know, and connect without encryption. This function therefore
 * reads the parameters itself, and rejects unknown ones whose name is related to TLS.
 *
 * @throws ConfigError that names the parameters, but never the URL, which contains a password
 */
export function toClientConfig(
  address: string,
  env: Record<string, string | undefined> = readEnvironment(),
): Pick<pg.ClientConfig, 'connectionString' | 'ssl' | 'sslnegotiation'> {
  const { rest, given } = takeParameters(address);
  const problems: string[] = [];
  const parsed = readParameters(given, problems);
  const sslmode = parsed.sslmode ?? (parsed.ssl === undefined ? env.PGSSLMODE : undefined);
  const settings = { ...parsed, sslmode, sslrootcert: parsed.sslrootcert ?? (sslmode && env.PGSSLROOTCERT) };
  const ssl = readTls(settings, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { connectionString: rest, ssl, ...(parsed.sslnegotiation === 'direct' && { sslnegotiation: 'direct' }) };
}

/** Removes the TLS parameters from a URL, and returns them as a list with duplicates and in their original spelling. */
function takeParameters(address: string): { rest: string; given: [string, string][] } {
  const mark = address.indexOf('?');
  if (mark < 0) return { rest: address, given: [] };
  const given: [string, string][] = [];
  const others: string[] = [];
  for (const pair of address.slice(mark + 1).split('&')) {
    const [[name = '', value = ''] = []] = new URLSearchParams(pair);
    if (/ssl|tls|libpq/i.test(name)) given.push([name, value]);
    else others.push(pair);
  }
  return { rest: address.slice(0, mark) + (others.length > 0 ? `?${others.join('&')}` : ''), given };
}

function readParameters(given: [string, string][], problems: string[]): Parameters {
  const parsed: Parameters = {};
  for (const [name, value] of given) {
    const known = parameters.find((parameter) => parameter === name);
    if (known === undefined) {
      problems.push(`${shown(name)} in the database URL is not supported. Use sslmode to configure TLS`);
    } else if (value === '') problems.push(`${known} in the database URL is empty`);
    else if (parsed[known] !== undefined) problems.push(`${known} occurs twice in the database URL`);
    else parsed[known] = value;
  }
  return parsed;
}

function readTls(
  { sslmode, ssl, sslrootcert, sslcert, sslkey, sslnegotiation }: Parameters & { sslmode?: string | undefined },
  problems: string[],
): pg.ClientConfig['ssl'] {
  if (sslmode !== undefined && !modes.includes(sslmode)) problems.push(`sslmode must be one of ${modes.join(', ')}`);
  if (ssl !== undefined && !['true', '1', 'false', '0'].includes(ssl)) problems.push('ssl must be true or false');
  const isEnabled = ssl === undefined ? undefined : ['true', '1'].includes(ssl);
  if (isEnabled !== undefined && sslmode !== undefined && isEnabled === (sslmode === 'disable')) {
    problems.push(`ssl=${ssl} and sslmode=${sslmode} contradict each other`);
  }
  if (sslnegotiation !== undefined && !['postgres', 'direct'].includes(sslnegotiation)) {
    problems.push('sslnegotiation must be postgres or direct');
  }
  const files = { sslrootcert, sslcert, sslkey };
  const named = Object.entries(files).flatMap(([name, file]) => (file === undefined ? [] : [name]));
  const demands = [...named, ...(sslnegotiation === 'direct' ? ['sslnegotiation'] : [])];
  const isOff = sslmode === 'disable' || isEnabled === false;
  if (isOff && demands.length > 0)
    problems.push(`TLS is off, but ${demands.join(', ')} ${demands.length === 1 ? 'requires' : 'require'} it`);
  if (sslmode === 'no-verify' && sslrootcert !== undefined) {
    problems.push(
      'sslrootcert has no effect with sslmode=no-verify, which does not check certificates. Use sslmode=verify-full',
    );
  }
  if ((sslcert === undefined) !== (sslkey === undefined)) {
    problems.push('sslcert and sslkey must be set together');
  }
  const ca = readPemFile('sslrootcert', sslrootcert, problems);
  const cert = readPemFile('sslcert', sslcert, problems);
  const key = readPemFile('sslkey', sslkey, problems);
  if (isOff || (sslmode === undefined && isEnabled === undefined && demands.length === 0)) return false;
  // Always set `rejectUnauthorized`, because NODE_TLS_REJECT_UNAUTHORIZED could otherwise disable certificate
  // verification.
  return {
    rejectUnauthorized: sslmode !== 'no-verify',
    ...(ca && { ca: ca.text }),
    ...(cert && { cert: cert.text }),
    ...(key && { key: key.text }),
  };
}

/** Makes a URL parameter's name safe to show in a one-line error message. */
function shown(name: string): string {
  return /^[\w-]{1,40}$/.test(name) ? name : 'A parameter';
}

interface DatabaseTls {
  host: string;
  port: number;
  /** Whether the client must send an `SSLRequest` message to PostgreSQL before it starts TLS. */
  asksFirst: boolean;
  secureContext: SecureContext;
  /** Whether the server's certificate must match its host name. */
  isVerified: boolean;
}

/**
 * Returns the TLS settings of a database URL, or null if the URL does not use TLS or refers to a local socket.
 * @throws the errors of `toClientConfig`
 */
export function readDatabaseTls(address: string): DatabaseTls | null {
  const { ssl, sslnegotiation, ...config } = toClientConfig(address);
  if (ssl === undefined || typeof ssl === 'boolean') return null;
  // This client never connects. It is used only to parse the host and the port.
  const { host, port } = new pg.Client(config);
  if (host.startsWith('/')) return null;
  return {
    host,
    port,
    asksFirst: sslnegotiation !== 'direct',
    secureContext: createSecureContext({ ca: ssl.ca, cert: ssl.cert, key: ssl.key }),
    isVerified: ssl.rejectUnauthorized !== false,
  };
}
