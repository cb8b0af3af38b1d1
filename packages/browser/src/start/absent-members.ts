import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';

/** Session replay and surveys are not part of this system: their members do nothing, and say so once in debug. */
export const absentMembers: Feature = ({ options, token, sessionId, log }) => {
  const told = new Set<string>();
  const absent = (what: string) => {
    if (!told.has(what)) log.debug(`${what} does not exist here: the call does nothing`);
    told.add(what);
  };
  const noSurveys: Client['getSurveys'] = (listener) => {
    absent('Surveys');
    listener?.([], { isLoaded: true });
  };
  return {
    // Of another product that may look at this service's sessions.
    get_session_replay_url: () => `${options.ui_host ?? options.api_host}/project/${token}/replay/${sessionId()}`,
    startSessionRecording: () => absent('Session replay'),
    stopSessionRecording: () => absent('Session replay'),
    sessionRecordingStarted: () => false,
    getSurveys: noSurveys,
    getActiveMatchingSurveys: noSurveys,
    renderSurvey: () => absent('Surveys'),
  };
};
