import type { ProviderKind } from '@millrace/accounts';
import { ConfigError, createSecretReader, secretSetting } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import type { OidcProvider } from './outcome.ts';

const clientId = (provider: string) =>
  Type.Optional(Type.String({ description: `client ID at ${provider}. If set, users can sign in with ${provider}` }));
const again = 'again for each sign-in';
const address = (description: string) => Type.String({ pattern: '^https?://[^\\s?#]+$', description });

export const providerFields = {
  googleClientId: clientId('Google'),
  ...secretSetting('googleClientSecret', Type.Optional(Type.String({ description: 'client secret at Google' })), again),
  githubClientId: clientId('GitHub'),
  ...secretSetting('githubClientSecret', Type.Optional(Type.String({ description: 'client secret at GitHub' })), again),
  githubUrl: Type.Optional(address('URL of your own GitHub server. Default: https://github.com')),
  gitlabClientId: clientId('GitLab'),
  ...secretSetting('gitlabClientSecret', Type.Optional(Type.String({ description: 'client secret at GitLab' })), again),
  gitlabUrl: Type.Optional(address('URL of your own GitLab server. Default: https://gitlab.com')),
  oidcIssuer: Type.Optional(
    address('issuer URL of an OpenID Connect provider with which users of all organizations can sign in'),
  ),
  oidcClientId: clientId('the OIDC_ISSUER provider'),
  ...secretSetting(
    'oidcClientSecret',
    Type.Optional(Type.String({ description: 'client secret at the OIDC_ISSUER provider' })),
    again,
  ),
  oidcName: Type.String({
    default: 'OpenID Connect',
    description: 'name of the OIDC_ISSUER provider, shown on its sign-in button',
  }),
};
const schema = Type.Object(providerFields);
type ProviderSettings = Static<typeof schema> & { publicApiUrl?: string };

/**
 * Creates the installation's sign-in providers.
 * @throws ConfigError for an incomplete provider, and for a provider without `PUBLIC_API_URL`
 */
export function createProviders(config: ProviderSettings): ReadonlyMap<ProviderKind, OidcProvider> {
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
      throw new ConfigError([`Set all of ${wanted.map((part) => `${prefix}_${part}`).join(', ')}, or none of them`]);
    }
    if (config.publicApiUrl === undefined) {
      throw new ConfigError([
        `PUBLIC_API_URL is required with ${prefix}_CLIENT_ID because the provider redirects users to this URL`,
      ]);
    }
    providers.set(kind, {
      kind,
      name,
      issuer,
      clientId: id,
      isConfiguredByOperator: true,
      get clientSecret() {
        return secret();
      },
    });
  };
  add('google-oauth2', {
    prefix: 'GOOGLE',
    name: 'Google',
    id: config.googleClientId,
    issuer: 'https://accounts.google.com',
    secret: createSecretReader(config, 'googleClientSecret'),
  });
  add('github', {
    prefix: 'GITHUB',
    name: 'GitHub',
    id: config.githubClientId,
    issuer: config.githubUrl ?? 'https://github.com',
    secret: createSecretReader(config, 'githubClientSecret'),
  });
  add('gitlab', {
    prefix: 'GITLAB',
    name: 'GitLab',
    id: config.gitlabClientId,
    issuer: config.gitlabUrl ?? 'https://gitlab.com',
    secret: createSecretReader(config, 'gitlabClientSecret'),
  });
  add('oidc', {
    prefix: 'OIDC',
    name: config.oidcName,
    id: config.oidcClientId,
    issuer: config.oidcIssuer,
    secret: createSecretReader(config, 'oidcClientSecret'),
  });
  return providers;
}
