import { Type } from 'typebox';

/** Environment summary, its fields in the order that was asked for (docs/api-rules.md#ordered-routes). */
export const environmentSummary = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the environment.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the environment.' }),
    organization: Type.String({ format: 'uuid', description: 'Id of the organization.' }),
    project_id: Type.Integer({ description: 'Id of its project.' }),
    api_token: Type.String({ description: 'The project API key SDKs send.' }),
    name: Type.String({ description: 'Name of the environment.' }),
    completed_snippet_onboarding: Type.Boolean({ description: 'Whether the snippet was installed once.' }),
    has_completed_onboarding_for: Type.Unknown({ description: 'Products the onboarding was completed for.' }),
    ingested_event: Type.Boolean({ description: 'Whether an event was ever stored.' }),
    is_demo: Type.Boolean({ description: 'Whether the data is made up.' }),
    timezone: Type.String({ description: 'IANA name of the time zone reports use.' }),
    access_control: Type.Boolean({ description: 'Whether it is private to some members.' }),
  },
  { title: 'EnvironmentSummary' },
);

export const environmentSummaryExample = {
  id: 1,
  uuid: '0193f0c5-7a4e-7000-8000-000000000001',
  organization: '0193f0c5-7a4e-7000-8000-0000000000aa',
  project_id: 1,
  api_token: 'phc_exampleexampleexampleexampleexampleexample',
  name: 'Default project',
  completed_snippet_onboarding: false,
  has_completed_onboarding_for: null,
  ingested_event: true,
  is_demo: false,
  timezone: 'UTC',
  access_control: false,
};
