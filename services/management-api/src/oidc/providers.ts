// The sign-in providers of the installation, as its settings name them.

import type { ProviderKind } from '@millrace/accounts';
import { ConfigError, secretOf, secretSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import type { OidcProvider } from './outcome.ts';

const clientId = (provider: string) =>
  Type.Optional(Type.String({ description: `client id at ${provider}; with it people may sign in by it` }));
const again = 'read again for each sign-in';
const address = (description: string) => Type.String({ pattern: '^https?://[^\\s?#]+$', description });

export const providerFields = {
  googleClientId: clientId('Google'),
  ...secretSetting('googleClientSecret', Type.Optional(Type.String({ description: 'client secret at Google' })), again),
  githubClientId: clientId('GitHub'),
  ...secretSetting('githubClientSecret', Type.Optional(Type.String({ description: 'client secret at GitHub' })), again),
  githubUrl: Type.Optional(address('address of a GitHub server of your own; default https://github.com')),
  gitlabClientId: clientId('GitLab'),
  ...secretSetting('gitlabClientSecret', Type.Optional(Type.String({ description: 'client secret at GitLab' })), again),
  gitlabUrl: Type.Optional(address('address of a GitLab of your own; default https://gitlab.com')),
  oidcIssuer: Type.Optional(address('issuer of any OpenID provider, by which people of all organizations may sign in')),
  oidcClientId: clientId('that OpenID provider'),
  ...secretSetting(
    'oidcClientSecret',
    Type.Optional(Type.String({ description: 'client secret at that OpenID provider' })),
    again,
  ),
  oidcName: Type.String({ default: 'OpenID Connect', description: 'what its button says' }),
};
const schema = Type.Object(providerFields);
type ProviderSettings = Static<typeof schema> & { publicApiUrl?: string };

/** @throws ConfigError for a provider of which only a part is set, and for a provider without `PUBLIC_API_URL`. */
export function providersOf(config: ProviderSettings): ReadonlyMap<ProviderKind, OidcProvider> {
  const providers = new Map<ProviderKind, OidcProvider>();
  const add = (
    kind: OidcProvider['kind'],
    settings: {
      prefix: string;
      name: string;
      id: string | undefined;
      secret: (() => string) | undefined;
      issuer: string | undefined;
    },
  ) => {
    const { prefix, name, id, secret, issuer } = settings;
    if (id === undefined && secret === undefined && (kind !== 'oidc' || issuer === undefined)) return;
    if (id === undefined || secret === undefined || issuer === undefined) {
      const wanted = [...(kind === 'oidc' ? ['ISSUER'] : []), 'CLIENT_ID', 'CLIENT_SECRET'];
      throw new ConfigError([`${wanted.map((part) => `${prefix}_${part}`).join(', ')}: set all of them, or none`]);
    }
    if (config.publicApiUrl === undefined) {
      throw new ConfigError([
        `${prefix}_CLIENT_ID: needs PUBLIC_API_URL, the address to which the provider sends people back`,
      ]);
    }
    providers.set(kind, {
      ...{ kind, name, issuer, clientId: id, isOfOperator: true },
      get clientSecret() {
        return secret();
      },
    });
  };
  add('google-oauth2', {
    ...{ prefix: 'GOOGLE', name: 'Google', id: config.googleClientId, issuer: 'https://accounts.google.com' },
    secret: secretOf(config, 'googleClientSecret'),
  });
  add('github', {
    ...{
      prefix: 'GITHUB',
      name: 'GitHub',
      id: config.githubClientId,
      issuer: config.githubUrl ?? 'https://github.com',
    },
    secret: secretOf(config, 'githubClientSecret'),
  });
  add('gitlab', {
    ...{
      prefix: 'GITLAB',
      name: 'GitLab',
      id: config.gitlabClientId,
      issuer: config.gitlabUrl ?? 'https://gitlab.com',
    },
    secret: secretOf(config, 'gitlabClientSecret'),
  });
  add('oidc', {
    ...{ prefix: 'OIDC', name: config.oidcName, id: config.oidcClientId, issuer: config.oidcIssuer },
    secret: secretOf(config, 'oidcClientSecret'),
  });
  return providers;
}
