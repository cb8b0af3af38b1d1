import { createSecureContext, type SecureContext } from 'node:tls';
import pg from 'pg';
import { connectionConfig } from './connection-config.ts';

/** How the server of an address is spoken to by TLS. */
interface DatabaseTls {
  host: string;
  port: number;
  /** PostgreSQL's own question for TLS goes before it. */
  asksFirst: boolean;
  /** Authorities and certificate that the address names. */
  secureContext: SecureContext;
  /** Whether it has to be the server of this name. */
  isVerified: boolean;
}

/** Null when the address asks for no TLS, or names a socket of this machine. @throws ConfigError as `connectionConfig`. */
export function databaseTls(address: string): DatabaseTls | null {
  const { ssl, sslnegotiation, ...config } = connectionConfig(address);
  if (ssl === undefined || typeof ssl === 'boolean') return null;
  // Nothing is connected: the driver knows what it would connect to.
  const { host, port } = new pg.Client(config);
  if (host.startsWith('/')) return null;
  return {
    ...{ host, port, asksFirst: sslnegotiation !== 'direct' },
    secureContext: createSecureContext({ ca: ssl.ca, cert: ssl.cert, key: ssl.key }),
    isVerified: ssl.rejectUnauthorized !== false,
  };
}
