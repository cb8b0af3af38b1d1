/**
 * Names of all client methods. The methods exist even before `init` and in builds without the corresponding feature.
 */
export const memberNames = (
  'capture captureException on identify alias reset group getGroups resetGroups setPersonProperties ' +
  'unsetPersonProperties createPersonProfile get_distinct_id register register_once register_for_session unregister ' +
  'unregister_for_session get_property getSessionProperty getFeatureFlag isFeatureEnabled getFeatureFlagPayload ' +
  'getFeatureFlagResult onFeatureFlags reloadFeatureFlags updateFlags setPersonPropertiesForFlags ' +
  'resetPersonPropertiesForFlags setGroupPropertiesForFlags resetGroupPropertiesForFlags getEarlyAccessFeatures ' +
  'updateEarlyAccessFeatureEnrollment get_session_id onSessionId get_session_replay_url startSessionRecording ' +
  'stopSessionRecording sessionRecordingStarted opt_in_capturing opt_out_capturing has_opted_in_capturing ' +
  'has_opted_out_capturing get_explicit_consent_status clear_opt_in_out_capturing set_config flush shutdown debug ' +
  'getPageViewId getSurveys getActiveMatchingSurveys renderSurvey'
).split(' ');

/** Names of methods that add listeners. Applications may call them before `init`. */
export const subscriptionNames = ['on', 'onFeatureFlags', 'onSessionId'];
