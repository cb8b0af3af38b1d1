import type { StoredDefinitions, StoredFlag } from '../definitions/stored-definitions.ts';
import { createDependencyChains } from './dependency-chains.ts';
import { filtersForSdks } from './filters-for-sdks.ts';
import { cohortIdsIn } from './filters-in.ts';

/** Flags that surveys make for themselves. */
const surveyPrefix = 'survey-targeting-';

/**
 * What an SDK needs to evaluate an environment's flags by itself: flags that are not deleted, inactive ones included, each
 * dependency named by key with the chain of what it rests on; dynamic cohorts that are asked about, with those they are
 * made of. Static cohorts are left out, so that SDKs ask. In a fixed order: the same definitions are the same text.
 */
export function localEvaluationDocument(definitions: StoredDefinitions) {
  const flags = definitions.flags.filter((flag) => !flag.has_encrypted_payloads && !flag.key.startsWith(surveyPrefix));
  const targetOf = createDependencyChains(flags);
  return {
    flags: flags.map((flag) => flagInDocument(flag, definitions.environmentId, filtersForSdks(flag, targetOf))),
    group_type_mapping: definitions.groupTypes,
    cohorts: cohortsInDocument(flags, definitions),
    minimal_flag_called_events: false,
    property_matching_version: definitions.matchingVersion,
  };
}

function flagInDocument(flag: StoredFlag, environmentId: number, filters: object) {
  return {
    id: flag.id,
    team_id: environmentId,
    name: flag.name,
    key: flag.key,
    filters,
    deleted: false,
    active: flag.active,
    ensure_experience_continuity: flag.ensure_experience_continuity ?? false,
    has_encrypted_payloads: false,
    version: flag.version,
    evaluation_runtime: flag.evaluation_runtime ?? 'all',
    bucketing_identifier: flag.bucketing_identifier ?? 'distinct_id',
    evaluation_contexts: flag.evaluation_contexts,
    evaluation_tags: flag.evaluation_contexts,
    has_experiment: false,
  };
}

function cohortsInDocument(flags: readonly StoredFlag[], { cohorts }: StoredDefinitions): Record<string, unknown> {
  const byId = new Map(cohorts.map((cohort) => [cohort.id, cohort]));
  const wanted = new Set(flags.flatMap(({ filters }) => cohortIdsIn(filters)));
  // A set goes on to what is added while it is walked.
  for (const id of wanted) for (const inner of cohortIdsIn(byId.get(id)?.tree)) wanted.add(inner);
  const dynamic = [...wanted]
    .sort((a, b) => a - b)
    .flatMap((id) => byId.get(id) ?? [])
    .filter((c) => !c.isStatic);
  return Object.fromEntries(dynamic.map(({ id, tree }) => [String(id), tree ?? {}]));
}
