import { type Static, Type } from 'typebox';
import { ConfigError } from '../config.ts';
import { createReloadingTls, type ReloadingTls } from '../reloading-tls.ts';
import { createSecretReader, readTimePerConnection, secretSetting } from '../secret-setting.ts';
import { readPemFile } from '../setting-files.ts';

/**
 * The settings of the Redis connection. Spread them into a service's config schema. The environment variable
 * `REDIS_CA_FILE` sets `redisCaFile`.
 */
export const redisConfigFields = {
  ...secretSetting(
    'redisUrl',
    Type.Optional(
      Type.String({
        pattern: '^rediss?://[^\\s]+$',
        description:
          'Redis URL: redis://host:port, or rediss://host:port for TLS. With REDIS_MODE sentinel or cluster, the URL can contain several host:port addresses, separated by commas. If unset, each process counts limits separately',
      }),
    ),
    'at startup, and again for each new connection to get the user name and password',
  ),
  redisMode: Type.Union([Type.Literal('single'), Type.Literal('sentinel'), Type.Literal('cluster')], {
    default: 'single',
    description:
      'type of the Redis deployment: single, sentinel or cluster. REDIS_URL contains the address of the server, the addresses of the sentinels, or the addresses of some cluster nodes',
  }),
  redisUsername: Type.Optional(Type.String({ description: 'user name for Redis, if REDIS_URL does not contain one' })),
  ...secretSetting(
    'redisPassword',
    Type.Optional(
      Type.String({
        description: 'password for Redis, if REDIS_URL does not contain one. Do not percent-encode the password',
      }),
    ),
    readTimePerConnection,
  ),
  redisSentinelMaster: Type.String({
    default: 'mymaster',
    description: 'name of the Redis master that the sentinels monitor',
  }),
  ...secretSetting(
    'redisSentinelPassword',
    Type.Optional(Type.String({ description: 'password for the sentinels, if they require one' })),
    readTimePerConnection,
  ),
  redisCaFile: Type.Optional(
    Type.String({ description: 'path to the PEM file with the CA certificate of the Redis server' }),
  ),
} as const;

type RedisConfig = { readonly [Name in keyof typeof redisConfigFields]?: Static<(typeof redisConfigFields)[Name]> };

export interface RedisConnection {
  /** The server, the sentinels or the cluster nodes. For a cluster, some of its nodes are enough. */
  nodes: { host: string; port: number }[];
  /** If set, the nodes are sentinels that monitor the server with this name. */
  sentinel?: { master: string };
  isCluster?: true;
  credentials(): RedisCredentials;
  /** The database number. A cluster has only database 0. */
  database?: number;
  /**
   * If present, every connection uses TLS and requires a trusted certificate for the host. If absent, connections are
   * not encrypted.
   */
  tls?: ReloadingTls;
}

/** The fields have the names of the driver's options. */
export interface RedisCredentials {
  username?: string;
  password?: string;
  sentinelPassword?: string;
}

/**
 * Returns the connection that the settings describe, or undefined if `redisUrl` is not set.
 * @throws ConfigError with all problems. The error never contains the URL, which can include a password.
 */
export function toRedisConnection(config: RedisConfig): RedisConnection | undefined {
  const problems: string[] = [];
  const { redisUrl, redisCaFile, redisMode = 'single' } = config;
  const isSecure = redisUrl?.startsWith('rediss:') === true;
  if (redisCaFile !== undefined && !isSecure) {
    problems.push(
      'REDIS_CA_FILE is set, but REDIS_URL does not start with rediss://, so the connection would not be encrypted',
    );
  }
  // Reject URL parameters, because silently ignoring `?tls=true` would be dangerous.
  if (redisUrl?.includes('?'))
    problems.push('REDIS_URL must not contain parameters after a ?. Start it with rediss:// to use TLS');
  const ca = readPemFile('REDIS_CA_FILE', redisCaFile, problems);
  const address = redisUrl === undefined ? undefined : readAddress(redisUrl.split('?', 1)[0] ?? '', problems);
  if (address !== undefined) checkTogether(address, config, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  if (address === undefined) return undefined;
  const { redisSentinelMaster: master = 'mymaster' } = config;
  const { nodes, database } = address;
  return {
    nodes,
    ...(database !== undefined && { database }),
    credentials: followCredentials(config),
    ...(redisMode === 'cluster' && { isCluster: true }),
    ...(redisMode === 'sentinel' && { sentinel: { master } }),
    ...(isSecure && { tls: createReloadingTls({ ca }) }),
  };
}

/** Returns a function that reads the current credentials. Each credential is in `redisUrl` or in its own setting. */
function followCredentials(config: RedisConfig): () => RedisCredentials {
  const url = createSecretReader(config, 'redisUrl');
  const ownPassword = createSecretReader(config, 'redisPassword');
  const ofSentinels = createSecretReader(config, 'redisSentinelPassword');
  return () => {
    const parsed = readAddress(url?.() ?? '', []);
    const username = config.redisUsername ?? parsed?.username;
    const password = ownPassword?.() ?? parsed?.password;
    const sentinelPassword = ofSentinels?.();
    return {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
    };
  };
}

type Address = Pick<RedisConnection, 'nodes' | 'database'> & RedisCredentials;

/** Parses `redis://user:password@host:port,host:port/database`. Returns undefined if the URL is invalid. */
function readAddress(url: string, problems: string[]): Address | undefined {
  const [, user, password, hosts = '', database] =
    /^rediss?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?#@]+)(?:\/(\d*))?$/.exec(url) ?? [];
  const nodes = hosts.split(',').map((node) => /^(\[[0-9a-f:.]+\]|[^\s:]+)(?::(\d{1,5}))?$/i.exec(node));
  if (nodes.some((node) => node === null)) {
    problems.push('REDIS_URL must have the form redis://user:password@host:port/0');
    return undefined;
  }
  return {
    nodes: nodes.map((node) => ({ host: (node?.[1] ?? '').replace(/[[\]]/g, ''), port: Number(node?.[2] ?? 6379) })),
    ...(user && { username: decoded(user) }),
    ...(password && { password: decoded(password) }),
    ...(database && { database: Number(database) }),
  };
}

function checkTogether(address: Address, config: RedisConfig, problems: string[]): void {
  const { redisMode = 'single' } = config;
  if (redisMode === 'single' && address.nodes.length > 1) {
    problems.push('REDIS_URL contains several servers. Set REDIS_MODE to sentinel or cluster');
  }
  if (redisMode === 'cluster' && (address.database ?? 0) > 0) {
    problems.push('REDIS_URL contains a database number, but a Redis cluster has only database 0');
  }
  if (config.redisUsername !== undefined && address.username !== undefined) {
    problems.push('REDIS_USERNAME is set, but REDIS_URL already contains a user name. Remove one of them');
  }
  if (config.redisPassword !== undefined && address.password !== undefined) {
    problems.push('REDIS_PASSWORD is set, but REDIS_URL already contains a password. Remove one of them');
  }
  if (config.redisSentinelPassword !== undefined && redisMode !== 'sentinel') {
    problems.push('REDIS_SENTINEL_PASSWORD is set, but REDIS_MODE is not sentinel');
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
