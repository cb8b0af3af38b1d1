import { createAutocapture } from '../autocapture/autocapture.ts';
import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';
import { describeDevice } from '../device.ts';
import { createEarlyAccess } from '../flags/early-access.ts';
import { createFlags } from '../flags/flags.ts';
import { createOverrides } from '../flags/override-flags.ts';
import { filterBots, limitRate } from '../limits.ts';
import { createOrigin } from '../origin.ts';
import { createPageViews } from '../page-views.ts';
import { createRemoteConfig } from '../remote-config.ts';

/**
 * What the full build has, in the order it starts. The settings come last: they may be there at once, for all others.
 * @param asked what only some sites ask for, which may come later
 */
export const fullFeatures = (...asked: Feature[]): Feature[] => [
  ...[filterBots, limitRate, describeDevice, createOrigin, absentMembers],
  ...[createPageViews, createAutocapture, ...asked],
  (core) => createFlags(core, createOverrides(core)),
  ...[createEarlyAccess, createRemoteConfig],
];

/** Session replay and surveys are not part of this system: their members do nothing, and say so once in debug. */
const absentMembers: Feature = ({ options, store, token, sessionId, log }) => {
  const told = new Set<string>();
  const absent = (what: string) => {
    if (!told.has(what)) log.debug(`${what} is not supported, the call has no effect`);
    told.add(what);
  };
  const noSurveys: Client['getSurveys'] = (listener) => {
    absent('Surveys');
    listener?.([], { isLoaded: true });
  };
  return {
    // Of another product that may look at this service's sessions.
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
