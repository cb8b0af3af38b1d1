/** Steps of a feature from the first idea to the end. */
export const stages = ['draft', 'concept', 'alpha', 'beta', 'general-availability', 'archived'] as const;
export type Stage = (typeof stages)[number];

/** In `concept` persons join a waiting list; the feature does not exist yet. */
const stagesWithEnrollment: readonly string[] = ['alpha', 'beta', 'general-availability'];

/**
 * What a flag's filters say of enrolment while its feature is in a stage: whoever chose it has the flag, whoever chose not to
 * has not. Both spellings: older evaluators know only the condition. Null takes it away.
 */
export function enrollmentFilters(flagKey: string, stage: Stage | null): Record<string, unknown> {
  if (stage === null || !stagesWithEnrollment.includes(stage)) return { feature_enrollment: null, super_groups: null };
  const property = { key: `$feature_enrollment/${flagKey}`, type: 'person', operator: 'exact', value: ['true'] };
  return { feature_enrollment: true, super_groups: [{ properties: [property], rollout_percentage: 100 }] };
}

const maxLength = 200;

/** A name as the key of a flag: letters without accents, digits and hyphens. Empty where nothing of it is left. */
export function slug(name: string): string {
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
