/**
 * Placeholders in queries and results. One stands for a missing breakdown value, the other for all breakdown values
 * beyond the limit.
 */
export const nullLabel = '$$_posthog_breakdown_null_$$';
export const otherLabel = '$$_posthog_breakdown_other_$$';
