import { Type } from 'typebox';
import { organization, organizationExample } from '../organizations/organization-schema.ts';
import { projectExample, projectSummary } from '../projects/project-schema.ts';

/** The caller as `/api/users/@me/` shows it: the part of reference/management-api.md section 11 that exists here so far. */
export const me = Type.Object(
  {
    date_joined: Type.String({ format: 'date-time', description: 'When the account was created.' }),
    uuid: Type.String({ format: 'uuid', description: 'Id of the user.' }),
    distinct_id: Type.String({ description: 'Id under which the product itself may track the user.' }),
    first_name: Type.String({ description: 'First name.' }),
    last_name: Type.String({ description: 'Last name.' }),
    email: Type.String({ description: 'E-mail address.' }),
    is_email_verified: Type.Boolean({ description: 'Whether the address was confirmed.' }),
    hedgehog_config: Type.Unknown({ description: 'Free-form settings, null when unset.' }),
    role_at_organization: Type.String({ description: 'What the user does for a living, empty when unknown.' }),
    team: Type.Union([projectSummary, Type.Null()], { description: 'The project `@current` stands for.' }),
    organization: Type.Union([organization, Type.Null()], { description: 'The organization `@current` stands for.' }),
    organizations: Type.Array(
      Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String(), membership_level: Type.Integer() }),
      { description: 'Every organization of the user the key may use.' },
    ),
  },
  { title: 'Me' },
);

export const meExample = {
  date_joined: '2026-11-01T09:00:00Z',
  uuid: '0193f0c5-7a4e-7000-8000-0000000000bb',
  distinct_id: 'Xw9x0l1Jg6cU',
  first_name: 'Ada',
  last_name: 'Example',
  email: 'ada@example.com',
  is_email_verified: true,
  hedgehog_config: null,
  role_at_organization: 'engineering',
  team: projectExample,
  organization: organizationExample,
  organizations: [{ id: organizationExample.id, name: organizationExample.name, membership_level: 15 }],
};
