/**
 * Breakdown labels in queries and results, for events without a breakdown value and for all values beyond the breakdown
 * limit.
 */
export const nullLabel = '$$_posthog_breakdown_null_$$';
export const otherLabel = '$$_posthog_breakdown_other_$$';
