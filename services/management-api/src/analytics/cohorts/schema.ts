// Request and response schemas for cohorts. A cohort is a group of persons, defined by filters or as a fixed list.

import { formatDateTime, freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import { convertGroupsToTree } from './filters.ts';
import type { CohortRow } from './store.ts';

const time = Type.String({ format: 'date-time' });
export const cohortTypes = ['static', 'person_property', 'behavioral', 'analytical'] as const;

const fields = {
  name: orNull(Type.String({ maxLength: 400 }), 'Name of the cohort.'),
  description: Type.String({ maxLength: 1000, description: 'Description of the cohort.' }),
  groups: Type.Array(Type.Unknown(), { description: 'Older form of `filters`. Used only if `filters` is not sent.' }),
  deleted: Type.Boolean({ description: 'Whether the cohort is deleted.' }),
  filters: orNull(
    freeFormObject({}),
    'Conditions that determine which persons belong to the cohort: `{"properties": {"type": "AND" or "OR", "values": ' +
      '[groups or filters]}}`. A filter has the type `person` (with `key`, `operator`, `value`, `negation`) or ' +
      '`cohort` (`value` is the ID of the cohort). Behavioral filters are rejected with 400.',
  ),
  query: orNull(freeFormObject({}), 'Not supported: any value other than null is rejected with 400.'),
  is_static: Type.Boolean({ description: 'Whether the cohort has a fixed list of members.' }),
};

export const cohort = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the cohort.' }),
    ...fields,
    cohort_type: orNull(
      Type.Unsafe<string>({ type: 'string', enum: [...cohortTypes] }),
      'How the members of the cohort are determined.',
    ),
    is_calculating: Type.Boolean({ description: 'Whether the persons in the cohort are still being counted.' }),
    created_by: orNull(embeddedUser, 'User who created the cohort, or null if that user was deleted.'),
    created_at: Type.String({ format: 'date-time', description: 'When the cohort was created.' }),
    last_calculation: orNull(time, 'When the persons in the cohort were last counted.'),
    errors_calculating: Type.Integer({ description: 'Number of consecutive failed attempts to count the persons.' }),
    count: orNull(
      Type.Integer(),
      'Number of persons in the cohort when it was last counted; null if it has not been counted yet.',
    ),
    experiment_set: Type.Array(Type.Integer(), { description: 'Always empty.' }),
  },
  { title: 'Cohort', description: 'A cohort.' },
);

/** Body of POST, PUT and PATCH requests. All fields are optional. */
export const cohortChanges = Type.Object(
  {
    name: Type.Optional(fields.name),
    description: Type.Optional(fields.description),
    groups: Type.Optional(fields.groups),
    deleted: Type.Optional(fields.deleted),
    filters: Type.Optional(fields.filters),
    query: Type.Optional(fields.query),
    is_static: Type.Optional(fields.is_static),
    _create_static_person_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 10_000,
        description: 'UUIDs of persons to add to a static cohort. Unknown persons are skipped.',
      }),
    ),
  },
  { title: 'CohortChanges' },
);

export const newCohortExample = {
  name: 'Paying customers',
  filters: {
    properties: {
      type: 'AND',
      values: [
        { type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro', 'enterprise'] }] },
      ],
    },
  },
};

export const cohortExample = {
  id: 1,
  name: 'Paying customers',
  description: '',
  groups: [],
  deleted: false,
  filters: newCohortExample.filters,
  query: null,
  is_static: false,
  cohort_type: 'person_property',
  is_calculating: false,
  created_by: embeddedUserExample,
  created_at: '2026-11-01T12:00:00Z',
  last_calculation: '2026-11-01T12:00:02Z',
  errors_calculating: 0,
  count: 17,
  experiment_set: [],
};

export const cohortsPath = '/cohorts';
export const cohortTags: [string] = ['cohorts'];

export const cohortParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'ID of the cohort.' }),
});

/** Converts a row to an API response. A cohort that was created before `filters` existed has only `groups`. */
export function toCohort(row: CohortRow) {
  const filters = row.filters ?? convertGroupsToTree(row.groups);
  return {
    ...row,
    filters: filters && { ...filters },
    created_at: formatDateTime(row.created_at),
    last_calculation: row.last_calculation && formatDateTime(row.last_calculation),
    experiment_set: [],
  };
}
