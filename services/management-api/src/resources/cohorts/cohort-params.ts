import { Type } from 'typebox';
import { projectParams } from '../../access/addressed-project.ts';

export const cohortsPath = '/api/projects/:project_id/cohorts';
export const cohortTags: [string] = ['cohorts'];

export const cohortParams = Type.Object({
  ...projectParams.properties,
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Number of the cohort.' }),
});
