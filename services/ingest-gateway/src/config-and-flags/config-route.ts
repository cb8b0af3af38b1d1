import type { JsonObject } from '@millrace/contracts';
import type { Router } from 'express';
import { hasFlags } from '../flag-data/has-flags.ts';
import type { AnswerDependencies } from './answer-dependencies.ts';
import type { EnvironmentSettings } from './environment-settings.ts';
import type { ClientSettings } from './environment-settings-store.ts';
import { onlyMethods } from './only-methods-route.ts';
import { clientConfig, remoteConfig, remoteConfigScript } from './remote-config.ts';
import { requireKnownProject } from './require-known-token.ts';

/** Pages share a copy for this time. A changed setting is seen after this and the time the gateway remembers it. */
const cacheControlOfSettings = 'public, max-age=60';

/** Made without the settings, so the next page asks again. */
const cacheControlOfDefault = 'no-store';

const undecided: ClientSettings = Object.freeze({
  autocaptureOptOut: null,
  exceptionsOptIn: null,
  webVitalsOptIn: null,
  webVitalsMetrics: null,
  heatmapsOptIn: null,
  captureDeadClicks: null,
});

/**
 * What browsers are told beside their flags.
 * @param environmentId null when it is not known whose key it is.
 */
export async function browserConfig(
  token: string,
  environmentId: number | null,
  { settings, data }: Pick<AnswerDependencies, 'settings' | 'data'>,
): Promise<JsonObject> {
  const [found, hasFeatureFlags] = await Promise.all([settingsOrNull(token, settings), hasFlags(environmentId, data)]);
  return { ...clientConfig(found), hasFeatureFlags };
}

/** The settings for a key; null when they cannot be read now. Clients work without them, so that is no failure. */
async function settingsOrNull(token: string, settings: EnvironmentSettings): Promise<ClientSettings | null> {
  try {
    return (await settings.find(token)) ?? undecided;
  } catch {
    return null;
  }
}

/**
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export async function configOfKey(
  key: unknown,
  { projectKeys, settings, data }: Pick<AnswerDependencies, 'projectKeys' | 'settings' | 'data'>,
): Promise<{ token: string; config: JsonObject; cacheControl: string }> {
  const { token, environmentId } = await requireKnownProject(key, projectKeys);
  const [found, hasFeatureFlags] = await Promise.all([settingsOrNull(token, settings), hasFlags(environmentId, data)]);
  const config = remoteConfig(token, { settings: found, hasFeatureFlags });
  return { token, config, cacheControl: found === null ? cacheControlOfDefault : cacheControlOfSettings };
}

/** Remote config for clients (docs/wire-rules.md#config-and-flags). */
export function configRoutes(router: Router, deps: AnswerDependencies): void {
  router
    .route('/array/:token/config')
    .get(async (request, response) => {
      const { config, cacheControl } = await configOfKey(request.params.token, deps);
      response.set('cache-control', cacheControl).json(config);
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
  router
    .route('/array/:token/config.js')
    .get(async (request, response) => {
      const { token, config, cacheControl } = await configOfKey(request.params.token, deps);
      response
        .set('cache-control', cacheControl)
        .type('application/javascript')
        .send(remoteConfigScript(token, config));
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
}
