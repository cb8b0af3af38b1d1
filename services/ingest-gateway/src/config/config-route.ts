// Serves the remote config that PostHog's SDKs request when a page loads.

import type { JsonObject } from '@millrace/contracts';
import type { Router } from 'express';
import { rejectUnusableLookup } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { findProjectApiKey } from '../capture/project-api-key.ts';
import { hasFlags } from '../flag-data.ts';
import { rejectOtherMethods } from './only-methods-route.ts';
import type { EnvironmentSettings, SdkConfigDependencies } from './settings.ts';
import type { ClientSettings } from './store.ts';

/** A changed setting takes effect after this time plus the time for which the gateway caches settings. */
const cacheControlOfSettings = 'public, max-age=60';

/** If the settings could not be read, the next page load must request the config again. */
const cacheControlOfDefault = 'no-store';

const undecided: ClientSettings = Object.freeze({
  autocaptureOptOut: null,
  exceptionsOptIn: null,
  webVitalsOptIn: null,
  webVitalsMetrics: null,
});

/**
 * Returns the browser config for a flag response.
 * @param environmentId null if the key could not be looked up
 */
export async function createBrowserConfig(
  token: string,
  environmentId: number | null,
  { settings, data }: Pick<SdkConfigDependencies, 'settings' | 'data'>,
): Promise<JsonObject> {
  const [found, hasFeatureFlags] = await Promise.all([settingsOrNull(token, settings), hasFlags(environmentId, data)]);
  return { ...clientConfig(found), hasFeatureFlags };
}

/** Returns null if the settings cannot be read. This is not an error, because clients work without them. */
async function settingsOrNull(token: string, settings: EnvironmentSettings): Promise<ClientSettings | null> {
  try {
    return (await settings.find(token)) ?? undecided;
  } catch {
    return null;
  }
}

/** @throws AppError `unauthenticated`, `unavailable` */
export async function readConfigForKey(
  key: unknown,
  { projectKeys, settings, data }: Pick<SdkConfigDependencies, 'projectKeys' | 'settings' | 'data'>,
): Promise<{ token: string; config: JsonObject; cacheControl: string }> {
  const { token, environmentId } = await requireKnownProject(key, projectKeys);
  const [found, hasFeatureFlags] = await Promise.all([settingsOrNull(token, settings), hasFlags(environmentId, data)]);
  const config = remoteConfig(token, { settings: found, hasFeatureFlags });
  return { token, config, cacheControl: found === null ? cacheControlOfDefault : cacheControlOfSettings };
}

/** Adds the remote config routes for clients (docs/wire-rules.md#config-and-flags). */
export function addConfigRoutes(router: Router, deps: SdkConfigDependencies): void {
  router
    .route('/array/:token/config')
    .get(async (request, response) => {
      const { config, cacheControl } = await readConfigForKey(request.params.token, deps);
      response.set('cache-control', cacheControl).json(config);
    })
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
  router
    .route('/array/:token/config.js')
    .get(async (request, response) => {
      const { token, config, cacheControl } = await readConfigForKey(request.params.token, deps);
      response
        .set('cache-control', cacheControl)
        .type('application/javascript')
        .send(renderRemoteConfigScript(token, config));
    })
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
}

/**
 * Returns the remote config for browser and mobile clients (docs/wire-rules.md#config-and-flags). Recordings, surveys
 * and tours are off, so that clients do not request them: Millrace does not support them. `autocaptureExceptions`,
 * `capturePerformance.web_vitals`, `captureDeadClicks` and `heatmaps` (which loads the script for dead clicks) are off,
 * because `posthog-js` captures these events with scripts that Millrace does not serve. Mobile clients and the Millrace
 * library read `errorTracking`. Only the Millrace library reads `millrace`.
 * @param settings null if they cannot be read
 */
function remoteConfig(
  token: string,
  { settings, hasFeatureFlags }: { settings: ClientSettings | null; hasFeatureFlags: boolean },
): JsonObject {
  return {
    token,
    ...clientConfig(settings),
    hasFeatureFlags,
    captureDeadClicks: false,
    errorTracking: { autocaptureExceptions: settings?.exceptionsOptIn === true, suppressionRules: [] },
    millrace: {
      web_vitals: settings?.webVitalsOptIn === true,
      web_vitals_allowed_metrics: settings?.webVitalsMetrics ?? null,
    },
    logs: { captureConsoleLogs: false },
    productTours: false,
    conversations: false,
  };
}

/**
 * Returns the config fields that `/decide` and `/flags?config=true` return too. Never includes `surveys`: with this
 * field, even if it is `false`, browsers load the survey script, which Millrace does not serve. Omits
 * `autocapture_opt_out` if the settings cannot be read, so that clients keep its last value.
 */
function clientConfig(settings: ClientSettings | null): JsonObject {
  return {
    supportedCompression: ['gzip', 'gzip-js'],
    ...(settings === null ? {} : { autocapture_opt_out: settings.autocaptureOptOut === true }),
    autocaptureExceptions: false,
    capturePerformance: { network_timing: false, web_vitals: false, web_vitals_allowed_metrics: null },
    analytics: { endpoint: '/i/v0/e/' },
    elementsChainAsString: true,
    sessionRecording: false,
    heatmaps: false,
    defaultIdentifiedOnly: true,
    isAuthenticated: false,
    siteApps: [],
    toolbarParams: {},
  };
}

/**
 * Returns the config as a script. Values become source code, so they must not contain a character that ends a string or
 * an HTML element. A page cannot replace the config with an element such as `<a id="_POSTHOG_REMOTE_CONFIG">`, because
 * the element is not an own property of `window`.
 */
export function renderRemoteConfigScript(token: string, config: JsonObject): string {
  const literal = (value: unknown): string =>
    JSON.stringify(value).replace(/[<\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `(function (name) {
  var configs = ({}).hasOwnProperty.call(window, name) && window[name];
  (window[name] = configs || {})[${literal(token)}] = { config: ${literal(config)}, siteApps: [] };
})('_POSTHOG_REMOTE_CONFIG');
`;
}

/**
 * Returns the API key without surrounding white space. Accepts a key that cannot be looked up, as for events.
 * @throws AppError `unauthenticated` or `unavailable`
 */
export async function requireKnownToken(key: unknown, projectKeys: ProjectKeys): Promise<string> {
  const { token } = await requireKnownProject(key, projectKeys);
  return token;
}

/** The environment ID is null if the API key could not be looked up. */
async function requireKnownProject(
  key: unknown,
  projectKeys: ProjectKeys,
): Promise<{ token: string; environmentId: number | null }> {
  const token = findProjectApiKey({ token: key }, [], null);
  const lookup = await projectKeys.find(token);
  rejectUnusableLookup(lookup.outcome, 'token');
  return { token, environmentId: lookup.outcome === 'known' ? lookup.project.environmentId : null };
}
