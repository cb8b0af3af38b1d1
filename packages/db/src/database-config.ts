import { ConfigError, readForEachConnection, secretOf, secretSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';

/**
 * How a service is told of its database. Spread into a service's config schema; each is read from the environment variable of
 * its name (`databaseSslCaFile` ← `DATABASE_SSL_CA_FILE`). `withDatabaseAddress` makes one address of them.
 */
export const databaseConfigFields = {
  ...secretSetting(
    'databaseUrl',
    Type.String({
      description: 'PostgreSQL connection URL, for example postgresql://user:password@host:port/database',
    }),
    readForEachConnection,
  ),
  ...secretSetting(
    'databaseUser',
    Type.Optional(Type.String({ description: 'user name for PostgreSQL, if DATABASE_URL does not contain one' })),
    readForEachConnection,
  ),
  ...secretSetting(
    'databasePassword',
    Type.Optional(
      Type.String({
        description:
          'password for PostgreSQL, if DATABASE_URL does not contain one. Do not percent-encode the password',
      }),
    ),
    readForEachConnection,
  ),
  databaseSslMode: Type.Optional(
    Type.String({
      description: 'TLS mode, if DATABASE_URL has no sslmode parameter: verify-full, no-verify or disable',
    }),
  ),
  databaseSslCaFile: Type.Optional(
    Type.String({
      description:
        'path to the PEM file with the CA certificate of the PostgreSQL server. Equivalent to the sslrootcert connection parameter',
    }),
  ),
  databaseSslCertFile: Type.Optional(
    Type.String({
      description:
        'path to the PEM file with a client certificate, if PostgreSQL requires one. Equivalent to the sslcert connection parameter',
    }),
  ),
  databaseSslKeyFile: Type.Optional(
    Type.String({
      description:
        'path to the PEM file with the private key for the certificate in DATABASE_SSL_CERT_FILE. Equivalent to the sslkey connection parameter',
    }),
  ),
} as const;

type DatabaseConfig = {
  readonly [Name in keyof typeof databaseConfigFields]?: Static<(typeof databaseConfigFields)[Name]> | undefined;
};

/** An address, or what it is at the moment: parts of it may be in files, which change. */
export type DatabaseAddress = string | (() => string);

export type WithDatabaseAddress<C> = Readonly<Omit<C, 'databaseUrl'> & { databaseUrl: DatabaseAddress }>;

/** The same config with everything about the database in its address. @throws ConfigError as `databaseAddress`. */
export function withDatabaseAddress<C extends DatabaseConfig & { readonly databaseUrl: string }>(
  config: C,
): WithDatabaseAddress<C> {
  const address = databaseAddress(config);
  const { databaseUrlFile, databaseUserFile, databasePasswordFile } = config;
  const isFixed = [databaseUrlFile, databaseUserFile, databasePasswordFile].every((file) => file === undefined);
  return Object.freeze({ ...config, databaseUrl: isFixed ? address : followAddress(config) });
}

function followAddress(config: DatabaseConfig & { readonly databaseUrl: string }): () => string {
  const [url, user, password] = [
    secretOf(config, 'databaseUrl'),
    secretOf(config, 'databaseUser'),
    secretOf(config, 'databasePassword'),
  ];
  return () => {
    const [databaseUrl = config.databaseUrl, databaseUser, databasePassword] = [url?.(), user?.(), password?.()];
    return databaseAddress({ ...config, databaseUrl, databaseUser, databasePassword });
  };
}

/**
 * The address with user, password and TLS parameters put in: where an operator keeps them apart, an address with a password
 * in it would have to be written by hand.
 *
 * @throws ConfigError with everything that is said twice or not at all, never a value: it may be a secret.
 */
export function databaseAddress(config: DatabaseConfig & { readonly databaseUrl: string }): string {
  const { databaseUrl, databaseUser, databasePassword } = config;
  const { scheme, user, password, rest } = partsOf(databaseUrl);
  const problems: string[] = [];
  if (databaseUser !== undefined && user !== '')
    problems.push('DATABASE_USER is set, but DATABASE_URL already contains a user name. Remove one of them');
  if (databasePassword !== undefined && password !== undefined) {
    problems.push('DATABASE_PASSWORD is set, but DATABASE_URL already contains a password. Remove one of them');
  }
  if (databasePassword !== undefined && databaseUser === undefined && user === '') {
    problems.push('DATABASE_PASSWORD is set, but neither DATABASE_USER nor DATABASE_URL contains a user name');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const who = databaseUser === undefined ? user : encodeURIComponent(databaseUser);
  const secret = databasePassword === undefined ? password : encodeURIComponent(databasePassword);
  const credentials = who === '' ? '' : `${who}${secret === undefined ? '' : `:${secret}`}@`;
  return withTls(`${scheme}${credentials}${rest}`, config);
}

/** What is said of TLS here goes behind what the address says; said twice, connecting refuses it by name. */
function withTls(address: string, config: DatabaseConfig): string {
  const parameters = Object.entries({
    sslmode: config.databaseSslMode,
    sslrootcert: config.databaseSslCaFile,
    sslcert: config.databaseSslCertFile,
    sslkey: config.databaseSslKeyFile,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]));
  if (parameters.length === 0) return address;
  return `${address}${address.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}

function partsOf(address: string): { scheme: string; user: string; password?: string; rest: string } {
  const [, scheme = '', credentials, rest = address] = /^(\w+:\/\/)(?:([^/?#]*)@)?(.*)$/s.exec(address) ?? [];
  const [user = '', ...password] = (credentials ?? '').split(':');
  return { scheme, user, rest, ...(password.length > 0 && { password: password.join(':') }) };
}
