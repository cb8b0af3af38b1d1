/** Kept in cookies too, so that they outlive a cleared localStorage and are shared by subdomains. */
export const cookieNames = [
  'distinct_id',
  '$device_id',
  '$sesid',
  '$session_is_sampled',
  '$epp',
  '$initial_person_info',
  '$fbc_persistence',
  '$user_state',
];

/** What is remembered for the library (also the reference's, whose store this is) and sent with no event. */
const hidden = new Set(
  (
    '$people_distinct_id __alias __cmpns __timers $fbc_persistence $fbp_persistence $heatmaps_enabled_server_side ' +
    '$logs_capture_enabled_server_side $error_tracking_suppression_rules $product_tours_enabled_server_side ' +
    '$session_recording_remote_config $session_recording_enabled_server_side $sesid $sess_rec_flush_size ' +
    '$enabled_feature_flags $active_feature_flags $early_access_features $feature_flag_details ' +
    '$feature_flag_payloads $feature_flag_request_id $minimal_flag_called_events $override_feature_flags ' +
    '$override_feature_flag_payloads $stored_person_properties $stored_group_properties $surveys ' +
    '$surveys_loaded_at $surveys_activated_session $surveys_activated_timestamps ph_product_tours ' +
    '$product_tours_activated $product_tours_activated_session $flag_call_reported ' +
    '$flag_call_reported_session_id $feature_flag_errors $feature_flag_evaluated_at $user_state ' +
    '$client_session_props $capture_rate_limit $initial_campaign_params $initial_referrer_info ' +
    '$initial_person_info $epp $session_recording_start_reason'
  ).split(' '),
);

export function isSentWithEvents(name: string): boolean {
  return !hidden.has(name) && !name.startsWith('$sdk_debug') && !name.startsWith('$posthog_sr_group');
}
