// Builds the settings of SQL queries from the settings and definitions that all queries use.

import { type Cohort, type FilterContext, readFilters } from '../plan/conditions.ts';
import type { PlanContext, ProjectSettings } from '../plan/context.ts';
import type { SqlCohort, SqlSettings } from './resolve/scope.ts';

export function sqlSettingsOf(
  context: PlanContext,
  found: Pick<SqlSettings, 'propertyTypes' | 'filters'>,
): SqlSettings {
  const { settings, clock } = context;
  return {
    projectId: settings.projectId,
    zone: settings.timezone,
    weekStart: clock.weekStart,
    now: clock.now,
    ...found,
    cohorts: cohortsOf(settings, context),
    personsAsStored: context.personsAsStored,
  };
}

function cohortsOf({ cohorts }: ProjectSettings, context: FilterContext): SqlCohort[] {
  return [...cohorts].map(([id, { name = null }]: [number, Cohort]) => ({
    id,
    name,
    condition: () =>
      readFilters([{ type: 'cohort', key: 'id', value: id }], 'cohort', { ...context, isOfPersons: true }),
  }));
}
