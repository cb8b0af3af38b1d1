import { ConfigError, createSecretReader, readTimePerConnection, secretSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';

/**
 * The settings of the database connection, which every service includes in its config schema. Each setting is read from
 * the environment variable of the same name (`databaseSslCaFile` from `DATABASE_SSL_CA_FILE`). `withDatabaseAddress`
 * combines them into one URL.
 */
export const databaseConfigFields = {
  ...secretSetting(
    'databaseUrl',
    Type.String({
      description: 'PostgreSQL connection URL, for example postgresql://user:password@host:port/database',
    }),
    readTimePerConnection,
  ),
  ...secretSetting(
    'databaseUser',
    Type.Optional(Type.String({ description: 'user name for PostgreSQL, if DATABASE_URL does not contain one' })),
    readTimePerConnection,
  ),
  ...secretSetting(
    'databasePassword',
    Type.Optional(
      Type.String({
        description:
          'password for PostgreSQL, if DATABASE_URL does not contain one. Do not percent-encode the password',
      }),
    ),
    readTimePerConnection,
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

/**
 * A connection URL, or a function that returns the current URL. The URL can change, because files can contain some of
 * its components.
 */
export type DatabaseAddress = string | (() => string);

export type WithDatabaseAddress<C> = Readonly<Omit<C, 'databaseUrl'> & { databaseUrl: DatabaseAddress }>;

/**
 * Returns the config with all database settings combined in `databaseUrl`.
 * @throws the errors of `buildDatabaseAddress`
 */
export function withDatabaseAddress<C extends DatabaseConfig & { readonly databaseUrl: string }>(
  config: C,
): WithDatabaseAddress<C> {
  const address = buildDatabaseAddress(config);
  const { databaseUrlFile, databaseUserFile, databasePasswordFile } = config;
  const isFixed = [databaseUrlFile, databaseUserFile, databasePasswordFile].every((file) => file === undefined);
  return Object.freeze({ ...config, databaseUrl: isFixed ? address : followAddress(config) });
}

function followAddress(config: DatabaseConfig & { readonly databaseUrl: string }): () => string {
  const [url, user, password] = [
    createSecretReader(config, 'databaseUrl'),
    createSecretReader(config, 'databaseUser'),
    createSecretReader(config, 'databasePassword'),
  ];
  return () => {
    const [databaseUrl = config.databaseUrl, databaseUser, databasePassword] = [url?.(), user?.(), password?.()];
    return buildDatabaseAddress({ ...config, databaseUrl, databaseUser, databasePassword });
  };
}

/**
 * Returns the URL with the user, password and TLS parameters added. Operators can therefore store these separately and
 * do not have to write a URL that contains a password.
 * @throws ConfigError that lists all settings that are missing or set twice, but not their values, which may be secret
 */
export function buildDatabaseAddress(config: DatabaseConfig & { readonly databaseUrl: string }): string {
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
  const userName = databaseUser === undefined ? user : encodeURIComponent(databaseUser);
  const secret = databasePassword === undefined ? password : encodeURIComponent(databasePassword);
  const credentials = userName === '' ? '' : `${userName}${secret === undefined ? '' : `:${secret}`}@`;
  return withTls(`${scheme}${credentials}${rest}`, config);
}

/**
 * Adds the TLS settings to the URL's parameters. If the URL already contains a TLS setting, connecting fails with an
 * error that names the setting.
 */
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
