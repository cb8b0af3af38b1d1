import type { JsonObject } from '@millrace/contracts';
import type { ClientSettings } from './environment-settings-store.ts';

/**
 * What browser and mobile clients are told to do (docs/wire-rules.md#config-and-flags). Only what this service does:
 * there are no recordings, surveys or tours here, and a client that hears so does not ask for them.
 *
 * @param settings null when they cannot be read now.
 */
export function remoteConfig(
  token: string,
  { settings, hasFeatureFlags }: { settings: ClientSettings | null; hasFeatureFlags: boolean },
): JsonObject {
  const capturesExceptions = settings?.exceptionsOptIn === true;
  return {
    token,
    ...clientConfig(settings),
    hasFeatureFlags,
    captureDeadClicks: settings?.captureDeadClicks === true,
    errorTracking: { autocaptureExceptions: capturesExceptions, suppressionRules: [] },
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
export function clientConfig(settings: ClientSettings | null): JsonObject {
  return {
    supportedCompression: ['gzip', 'gzip-js'],
    ...(settings === null ? {} : { autocapture_opt_out: settings.autocaptureOptOut === true }),
    autocaptureExceptions: settings?.exceptionsOptIn === true,
    capturePerformance: {
      network_timing: false,
      web_vitals: settings?.webVitalsOptIn === true,
      web_vitals_allowed_metrics: settings?.webVitalsMetrics ?? null,
    },
    analytics: { endpoint: '/i/v0/e/' },
    elementsChainAsString: true,
    sessionRecording: false,
    heatmaps: settings?.heatmapsOptIn === true,
    defaultIdentifiedOnly: true,
    isAuthenticated: false,
    siteApps: [],
    toolbarParams: {},
  };
}

/** The document as a script. Values become part of a program, so no character may end a string or an element. */
export function remoteConfigScript(token: string, config: JsonObject): string {
  const literal = (value: unknown): string =>
    JSON.stringify(value).replace(/[<\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `(function (configs) {
  configs[${literal(token)}] = { config: ${literal(config)}, siteApps: [] };
})((window._POSTHOG_REMOTE_CONFIG = window._POSTHOG_REMOTE_CONFIG || {}));
`;
}
