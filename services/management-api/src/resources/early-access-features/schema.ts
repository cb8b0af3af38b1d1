import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { minimalFlag, minimalFlagExample } from '../feature-flags/schema.ts';
import { stages } from './rules.ts';

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the feature.' }),
  description: Type.String({ maxLength: 10_000, description: 'What it does.' }),
  stage: Type.Unsafe<(typeof stages)[number]>({
    type: 'string',
    enum: [...stages],
    description:
      'Stage of the feature. From `alpha` to `general-availability` people turn it on and off for themselves. In `concept` they only join a waiting list, which turns nothing on. Otherwise the conditions of the flag decide.',
  }),
  documentation_url: Type.String({
    maxLength: 800,
    description: 'http(s) address of what is written about it, or empty.',
  }),
  payload: freeFormObject({
    description: 'JSON object that SDKs get with the feature from `/api/early_access_features/`. At most 32 KiB.',
  }),
};

export const earlyAccessFeature = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the feature.' }),
    feature_flag: minimalFlag,
    ...fields,
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
  },
  { title: 'EarlyAccessFeature' },
);

const optional = {
  description: Type.Optional(fields.description),
  documentation_url: Type.Optional(fields.documentation_url),
  payload: Type.Optional(orNull(fields.payload, 'JSON object that SDKs get with the feature. Null: empty.')),
};

export const newFeature = Type.Object(
  {
    name: fields.name,
    stage: fields.stage,
    ...optional,
    feature_flag_id: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.Null()], {
        description:
          'Number of the flag it turns on; without it one is made, with the name as its key, that is on only for those who enrol.',
      }),
    ),
  },
  { title: 'EarlyAccessFeatureToCreate' },
);

/** For PUT: the flag stays. */
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
