/** Placeholders in queries and results: for a missing breakdown value, and for all values beyond the limit. */
export const nullLabel = '$$_posthog_breakdown_null_$$';
export const otherLabel = '$$_posthog_breakdown_other_$$';
