import { AppError } from '@millrace/errors';
import { type Static, Type } from 'typebox';
import { featureFlag, featureFlagExample } from './flag-schema.ts';

const largest = 2_147_483_647;
const projectId = (description: string) => Type.Integer({ minimum: 1, maximum: largest, description });

export const flagCopy = Type.Object({
  feature_flag_key: Type.Optional(Type.String({ maxLength: 400, description: 'Key of the flag.' })),
  from_project: Type.Optional(projectId('Id of the project or environment it is copied from.')),
  target_project_ids: Type.Optional(
    Type.Array(projectId('Id.'), {
      maxItems: 100,
      description: 'Ids of the projects or environments it is copied to.',
    }),
  ),
  copy_schedule: Type.Optional(Type.Unknown({ description: 'Ignored: there are no schedules.' })),
});

export interface FlagCopy {
  key: string;
  from: number;
  to: number[];
}

/** @throws AppError `invalid` when something is missing. */
export function parseFlagCopy({
  feature_flag_key: key,
  from_project: from,
  target_project_ids: to,
}: Static<typeof flagCopy>): FlagCopy {
  if (!key || from === undefined || to === undefined || to.length === 0) {
    throw new AppError('invalid', 'Missing required fields', { code: 'invalid_input' });
  }
  return { key, from, to: [...new Set(to)] };
}

export const copyAnswer = Type.Object({
  success: Type.Array(featureFlag, { description: 'The flags as they are there now.' }),
  failed: Type.Array(
    Type.Object({
      project_id: Type.Integer({ description: 'Where it could not be copied to.' }),
      errors: Type.String({ description: 'Why.' }),
    }),
    { description: 'Projects that did not get it.' },
  ),
});

export const copyExample = {
  request: { feature_flag_key: 'new-checkout', from_project: 1, target_project_ids: [2, 3] },
  response: { success: [featureFlagExample], failed: [{ project_id: 3, errors: 'Project not found.' }] },
};
