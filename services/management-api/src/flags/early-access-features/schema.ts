// Request and response schemas for early access features, which users can enable before the general release.

import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { minimalFlag, minimalFlagExample } from '../feature-flags/schema.ts';
import { stages } from './rules.ts';

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the feature.' }),
  description: Type.String({ maxLength: 10_000, description: 'Description of the feature.' }),
  stage: Type.Unsafe<(typeof stages)[number]>({
    type: 'string',
    enum: [...stages],
    description:
      'Stage of the feature. In `alpha`, `beta` and `general-availability`, users can turn the feature on and off for ' +
      'themselves. In `concept`, they can only join a waiting list, which does not turn the feature on. In all other stages, only the ' +
      "flag's release conditions apply.",
  }),
  documentation_url: Type.String({
    maxLength: 800,
    description: "http or https URL of the feature's documentation, or an empty string.",
  }),
  payload: freeFormObject({
    description: 'JSON object that SDKs receive with the feature from `/api/early_access_features/`. At most 32 KiB.',
  }),
};

export const earlyAccessFeature = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the early access feature.' }),
    feature_flag: minimalFlag,
    ...fields,
    created_at: Type.String({ format: 'date-time', description: 'When the feature was created.' }),
  },
  { title: 'EarlyAccessFeature' },
);

const optional = {
  description: Type.Optional(fields.description),
  documentation_url: Type.Optional(fields.documentation_url),
  payload: Type.Optional(
    orNull(fields.payload, 'JSON object that SDKs receive with the feature. Null is stored as an empty object.'),
  ),
};

export const newFeature = Type.Object(
  {
    name: fields.name,
    stage: fields.stage,
    ...optional,
    feature_flag_id: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.Null()], {
        description:
          'ID of the flag that turns the feature on. If it is left out, Millrace creates a flag that is on only for users who ' +
          "enroll. The flag's key is derived from the name.",
      }),
    ),
  },
  { title: 'EarlyAccessFeatureToCreate' },
);

export const replacedFeature = Type.Object(
  { name: fields.name, stage: fields.stage, ...optional },
  { title: 'EarlyAccessFeatureReplacement' },
);

export const featureChanges = Type.Object(
  {
    name: Type.Optional(fields.name),
    stage: Type.Optional(fields.stage),
    ...optional,
  },
  { title: 'EarlyAccessFeatureChanges' },
);

export const newFeatureExample = { name: 'New checkout', description: 'Pay in one step.', stage: 'beta' };

export const featureExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000ea',
  feature_flag: minimalFlagExample,
  ...newFeatureExample,
  documentation_url: '',
  payload: { teaser: 'Pay in one step' },
  created_at: '2026-11-21T12:00:00Z',
};
