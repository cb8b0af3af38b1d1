import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';
import { maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';

export const person = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the person within the installation.' }),
    uuid: Type.String({ format: 'uuid', description: 'Id of the person.' }),
    name: Type.String({
      description:
        'The first of the properties email, name, username, 400 characters at most; else the main distinct id.',
    }),
    distinct_ids: Type.Array(Type.String(), {
      description: `The main distinct id, then the others in the order they came, ${maxDistinctIdsShown} at most.`,
    }),
    properties: freeFormObject({ description: 'Current person properties.' }),
    is_identified: Type.Boolean({ description: 'Whether the person was ever identified.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the person was first seen.' }),
  },
  { title: 'Person' },
);

export const personExample = {
  id: 42,
  uuid: '0193f0c5-7a4e-5000-8000-000000000042',
  name: 'ada@example.com',
  distinct_ids: ['user-42', '0193f0c5-7a4e-7000-8000-00000000dead'],
  properties: { email: 'ada@example.com', plan: 'pro' },
  is_identified: true,
  created_at: '2026-11-20T08:15:00Z',
};
