import type { JsonObject } from '@millrace/contracts';
import type { Router } from 'express';
import { requirePossible } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { findProjectApiKey } from '../capture/project-api-key.ts';
import { hasFlags } from '../flag-data.ts';
import { onlyMethods } from './only-methods-route.ts';
import type { AnswerDependencies, EnvironmentSettings } from './settings.ts';
import type { ClientSettings } from './store.ts';

/** Pages share a copy for this time. A changed setting is seen after this and the time the gateway remembers it. */
const cacheControlOfSettings = 'public, max-age=60';

/** Made without the settings, so the next page asks again. */
const cacheControlOfDefault = 'no-store';

const undecided: ClientSettings = Object.freeze({
  autocaptureOptOut: null,
  exceptionsOptIn: null,
  webVitalsOptIn: null,
  webVitalsMetrics: null,
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

/**
 * What browser and mobile clients are told to do (docs/wire-rules.md#config-and-flags). Only what this service does:
 * there are no recordings, surveys or tours here, and a client that hears so does not ask for them.
 *
 * `posthog-js` captures some things with scripts that it loads from here and that are not served, so its fields say that these are
 * off: `autocaptureExceptions`, `capturePerformance.web_vitals`, `captureDeadClicks`, and `heatmaps`, which loads the script for dead
 * clicks. `errorTracking` is what mobile clients read of exceptions, and our library, for which alone `millrace` is.
 *
 * @param settings null when they cannot be read now.
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
 * The part of it that `/decide` and `/flags?config=true` carry beside the flags. `surveys` is left out:
 * browsers fetch the survey script, which is not served here, as soon as the field is there, even as `false`. So is
 * `autocapture_opt_out` while nobody can say what it is: clients then stay with what they heard last.
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
 * The document as a script. Values become part of a program, so no character may end a string or an element. What an element of
 * the page is called (`<a id="_POSTHOG_REMOTE_CONFIG">`) is no own property of its window.
 */
export function remoteConfigScript(token: string, config: JsonObject): string {
  const literal = (value: unknown): string =>
    JSON.stringify(value).replace(/[<\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `(function (name) {
  var configs = ({}).hasOwnProperty.call(window, name) && window[name];
  (window[name] = configs || {})[${literal(token)}] = { config: ${literal(config)}, siteApps: [] };
})('_POSTHOG_REMOTE_CONFIG');
`;
}

/**
 * The key without white space around it. A key that no store can be asked about passes, as it does for events.
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export async function requireKnownToken(key: unknown, projectKeys: ProjectKeys): Promise<string> {
  const { token } = await requireKnownProject(key, projectKeys);
  return token;
}

/** The same with the environment; null while nobody can say whose key it is. */
async function requireKnownProject(
  key: unknown,
  projectKeys: ProjectKeys,
): Promise<{ token: string; environmentId: number | null }> {
  const token = findProjectApiKey({ token: key }, [], null);
  const lookup = await projectKeys.find(token);
  requirePossible(lookup.outcome, 'token');
  return { token, environmentId: lookup.outcome === 'known' ? lookup.project.environmentId : null };
}
