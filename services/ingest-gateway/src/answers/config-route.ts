import type { Router } from 'express';
import type { AnswerDependencies } from './answer-dependencies.ts';
import type { ClientSettings } from './environment-settings-store.ts';
import { onlyMethods } from './only-methods-route.ts';
import { remoteConfig, remoteConfigScript } from './remote-config.ts';
import { requireKnownToken } from './require-known-token.ts';

/** Pages share a copy; a changed setting is seen after this and the gateway's own memory. */
const cacheControl = 'public, max-age=60';

export const undecided: ClientSettings = Object.freeze({
  autocaptureOptOut: null,
  exceptionsOptIn: null,
  webVitalsOptIn: null,
  webVitalsMetrics: null,
  heatmapsOptIn: null,
  captureDeadClicks: null,
});

/** Remote config for clients (reference/sdk-wire.md section 9, rows 10 and 11). */
export function configRoutes(router: Router, { projectKeys, settings }: AnswerDependencies): void {
  async function configOf(key: unknown) {
    const token = await requireKnownToken(key, projectKeys);
    return { token, config: remoteConfig(token, (await settings.find(token)) ?? undecided) };
  }
  router
    .route('/array/:token/config')
    .get(async (request, response) => {
      const { config } = await configOf(request.params.token);
      response.set('cache-control', cacheControl).json(config);
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
  router
    .route('/array/:token/config.js')
    .get(async (request, response) => {
      const { token, config } = await configOf(request.params.token);
      response
        .set('cache-control', cacheControl)
        .type('application/javascript')
        .send(remoteConfigScript(token, config));
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
}
