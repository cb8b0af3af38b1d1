/**
 * Labels in queries and results: one for a missing breakdown value, and one for all breakdown values beyond the limit.
 */
export const nullLabel = '$$_posthog_breakdown_null_$$';
export const otherLabel = '$$_posthog_breakdown_other_$$';
