/** Kept in cookies too, so that they outlive a cleared localStorage and are shared by subdomains. */
export const cookieNames =
  /^(distinct_id|\$(device_id|sesid|session_is_sampled|epp|initial_person_info|fbc_persistence|user_state))$/;

/** What is remembered for the library, by this one or by the reference's, whose store it is: sent with no event. */
const hidden =
  /^(__|ph_product|\$(active_feature|capture_rate|client_session|early_access|enabled_feature|epp|error_tracking_supp|fb[cp]_p|feature_flag|flag_call|heatmaps|initial_|logs_capture|minimal_flag|override|people_|posthog_sr|product_tours|sdk_debug|ses|stored_|surveys|user_state))/;

export function isSentWithEvents(name: string): boolean {
  return !hidden.test(name);
}
