import { Type } from 'typebox';
import { projectParams } from '../../access/addressed-project.ts';

export const flagsPath = '/api/projects/:project_id/feature_flags';

export const flagTags: [string] = ['feature_flags'];

export const flagParams = Type.Object({
  ...projectParams.properties,
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Number of the flag.' }),
});
