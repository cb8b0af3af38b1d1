// Settings for secrets, which can be set directly or in a file.

import { type Static, type TOptional, type TSchema, type TString, Type } from 'typebox';
import { toEnvironmentVariable } from './environment.ts';
import { createFileReader } from './setting-files.ts';

type FileOf<N extends string> = `${N}File`;

/**
 * Defines two settings for one secret, for example `redisPassword` from `REDIS_PASSWORD` and `redisPasswordFile` from
 * `REDIS_PASSWORD_FILE`. `readConfig` reads the file, and rejects the config if both are set. Spread the result into a
 * service's config schema.
 * @param readTime a phrase that says when the file is read, for the setting's description
 */
export function secretSetting<N extends string, S extends TSchema>(
  name: N,
  schema: S,
  readTime: string,
): Record<N, S> & Record<FileOf<N>, TOptional<TString>> {
  const description = `path to a file that contains the value of ${toEnvironmentVariable(name)}. Millrace reads it ${readTime}`;
  return { [name]: schema, [fileOf(name)]: Type.Optional(Type.String({ description })) } as Record<N, S> &
    Record<FileOf<N>, TOptional<TString>>;
}

export const readTimePerConnection = 'again for each new connection';

type SecretConfig<N extends string> = { readonly [Name in N | FileOf<N>]?: Static<TString> | undefined };

/** Returns a function that reads the current secret, or undefined if the secret is not configured. */
export function createSecretReader<N extends string>(config: SecretConfig<N>, name: N): (() => string) | undefined {
  const [value, file] = [config[name], config[fileOf(name)]];
  if (file !== undefined) return createFileReader(file, value ?? '');
  return value === undefined ? undefined : () => value;
}

function fileOf<N extends string>(name: N): FileOf<N> {
  return `${name}File`;
}
