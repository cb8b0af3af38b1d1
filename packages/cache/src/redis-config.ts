import { ConfigError, readPem } from '@millrace/runtime';
import { type Static, Type } from 'typebox';

/**
 * How a service is told of its Redis. Spread into a service's config schema; each is read from the environment variable of
 * its name (`redisCaFile` ← `REDIS_CA_FILE`).
 */
export const redisConfigFields = {
  redisUrl: Type.Optional(
    Type.String({
      pattern: '^rediss?://[^\\s]+$',
      description: 'redis://host:port, or rediss:// to demand TLS; without it this process counts and remembers alone',
    }),
  ),
  redisCaFile: Type.Optional(Type.String({ description: 'PEM file of the authority that signed the server' })),
} as const;

type RedisConfig = { readonly [Name in keyof typeof redisConfigFields]?: Static<(typeof redisConfigFields)[Name]> };

export interface RedisConnection {
  url: string;
  /** With it, always TLS and a certificate of this host by a known authority; without it, in the clear. */
  tls?: { rejectUnauthorized: true; ca?: string };
}

/**
 * The connection that the settings describe, undefined when they describe none.
 * @throws ConfigError with everything that does not fit together, never the address: it may hold a password.
 */
export function redisConnection({ redisUrl, redisCaFile }: RedisConfig): RedisConnection | undefined {
  const problems: string[] = [];
  const isSecure = redisUrl?.startsWith('rediss:') === true;
  if (redisCaFile !== undefined && !isSecure) {
    problems.push('REDIS_CA_FILE is set, but REDIS_URL does not begin with rediss:// and would go in the clear');
  }
  // The client would take it for an option of its own.
  if (/[?&][^=&]*(ssl|tls)/i.test(redisUrl ?? ''))
    problems.push('REDIS_URL asks for TLS by rediss:// only, not behind a ?');
  const ca = readPem('REDIS_CA_FILE', redisCaFile, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  if (redisUrl === undefined) return undefined;
  // Said aloud: NODE_TLS_REJECT_UNAUTHORIZED does not change what is demanded here.
  return { url: redisUrl, ...(isSecure && { tls: { rejectUnauthorized: true, ...(ca && { ca }) } }) };
}
