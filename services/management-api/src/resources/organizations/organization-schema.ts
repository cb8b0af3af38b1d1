import { Type } from 'typebox';

/** The part of the reference's organization that exists here so far (reference/management-api.md section 3). */
export const organization = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the organization.' }),
    name: Type.String({ description: 'Name of the organization.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it was last changed.' }),
    membership_level: Type.Integer({ description: "The caller's level: 1 member, 8 administrator, 15 owner." }),
    projects: Type.Array(
      Type.Object({ id: Type.Integer(), organization_id: Type.String({ format: 'uuid' }), name: Type.String() }),
      { description: 'Its projects, by id.' },
    ),
    available_product_features: Type.Array(Type.Unknown(), {
      description: 'What the plan includes, as `{key, name}`.',
    }),
    member_count: Type.Integer({ description: 'Number of active members.' }),
  },
  { title: 'Organization' },
);

export const organizationExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000aa',
  name: 'Example Ltd',
  created_at: '2026-11-01T09:00:00Z',
  updated_at: '2026-11-01T09:00:00Z',
  membership_level: 15,
  projects: [{ id: 1, organization_id: '0193f0c5-7a4e-7000-8000-0000000000aa', name: 'Default project' }],
  available_product_features: [],
  member_count: 2,
};
