import type { SecureContext } from 'node:tls';

/** A server that services speak to by TLS. */
export interface TlsServer {
  host: string;
  port: number;
  /** What goes before TLS: nothing, PostgreSQL's question for it, or a mail server's greeting and STARTTLS. */
  begins: 'at once' | 'postgresql' | 'smtp';
  /** Undefined: the authorities that Node knows, and no certificate of our own. */
  secureContext: SecureContext | undefined;
  /** Whether services look at whose certificate it is. */
  isVerified: boolean;
  /** The setting that names another authority. */
  authoritySetting: string;
}

export const placeOf = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;

/** The server has said that it does not speak TLS. */
export class NoTlsError extends Error {}
