/** The stages of a feature in their usual order. */
export const stages = ['draft', 'concept', 'alpha', 'beta', 'general-availability', 'archived'] as const;
export type Stage = (typeof stages)[number];

/**
 * Stages in which users can opt in. In `concept`, the feature does not exist yet, and users only join a waiting list.
 */
const stagesWithEnrollment: readonly string[] = ['alpha', 'beta', 'general-availability'];

/**
 * Returns the enrollment filters of a flag for a stage of its feature. The filters turn the flag on for users who opted
 * in, and off for users who opted out. Null removes the filters. The same rule is stored as a field and as a condition,
 * because older evaluators support only the condition.
 */
export function enrollmentFilters(flagKey: string, stage: Stage | null): Record<string, unknown> {
  if (stage === null || !stagesWithEnrollment.includes(stage)) return { feature_enrollment: null, super_groups: null };
  const property = { key: `$feature_enrollment/${flagKey}`, type: 'person', operator: 'exact', value: ['true'] };
  return { feature_enrollment: true, super_groups: [{ properties: [property], rollout_percentage: 100 }] };
}

const maxLength = 200;

/**
 * Converts a name to a flag key, which contains only digits, hyphens and letters from a to z. Removes accents. Returns
 * an empty string if no such character remains.
 */
export function toFlagKey(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{ASCII}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_\s-]/g, '')
    .trim()
    .replace(/[-\s]+/g, '-')
    .slice(0, maxLength)
    .replace(/^[-_]+|[-_]+$/g, '');
}
