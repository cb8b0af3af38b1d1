import { createAutocapture } from '../autocapture/autocapture.ts';
import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';
import { addDeviceProperties } from '../device.ts';
import { createEarlyAccess } from '../flags/early-access.ts';
import { createFlags } from '../flags/flags.ts';
import { createOverrides } from '../flags/override-flags.ts';
import { filterBots, limitRate } from '../limits.ts';
import { createOriginTracking } from '../origin.ts';
import { createPageViews } from '../page-views.ts';
import { createRemoteConfig } from '../remote-config.ts';

/**
 * The features of the full build, in the order in which they start. Remote settings come last, because they may be
 * available immediately, and all features must be listening before that.
 * @param optional the features that only some sites use and whose code may load on demand
 */
export const fullFeatures = (...optional: Feature[]): Feature[] => [
  filterBots,
  limitRate,
  addDeviceProperties,
  createOriginTracking,
  absentMembers,
  createPageViews,
  createAutocapture,
  ...optional,
  (core) => createFlags(core, createOverrides(core)),
  createEarlyAccess,
  createRemoteConfig,
];

/**
 * Methods for session replay and surveys, which Millrace does not support. The methods do nothing. In debug mode, they
 * log a message once.
 */
const absentMembers: Feature = ({ options, store, token, sessionId, log }) => {
  const logged = new Set<string>();
  const absent = (what: string) => {
    if (!logged.has(what)) log.debug(`${what} is not supported, the call has no effect`);
    logged.add(what);
  };
  const noSurveys: Client['getSurveys'] = (listener) => {
    absent('Surveys');
    listener?.([], { isLoaded: true });
  };
  return {
    // A different product may be able to replay the session at this URL.
    get_session_replay_url({ withTimestamp, timestampLookBack = 10 } = {}) {
      const address = `${options.ui_host ?? options.api_host}/project/${token}/replay/${sessionId()}`;
      const [, , startedMs] = store.get('$sesid') as [number, string, number];
      const seconds = Math.max(Math.floor((Date.now() - startedMs) / 1000) - timestampLookBack, 0);
      return withTimestamp ? `${address}?t=${seconds}` : address;
    },
    startSessionRecording: () => absent('Session replay'),
    stopSessionRecording: () => absent('Session replay'),
    sessionRecordingStarted: () => false,
    getSurveys: noSurveys,
    getActiveMatchingSurveys: noSurveys,
    renderSurvey: () => absent('Surveys'),
  };
};
