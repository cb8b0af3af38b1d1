// The response schema for a person, which several routes share.

import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';

export const person = Type.Object(
  {
    id: Type.Integer({ description: 'Numeric ID of the person, unique in the installation.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the person.' }),
    name: Type.String({
      description:
        'The first of the person properties `email`, `name` and `username` that is set, truncated to 400 ' +
        'characters. If none of these properties is set, the main distinct ID.',
    }),
    distinct_ids: Type.Array(Type.String(), {
      description: `The person's distinct IDs: the main ID, followed by the others in the order in which they were added. At most ${maxDistinctIdsShown}.`,
    }),
    properties: freeFormObject({ description: 'Current person properties.' }),
    is_identified: Type.Boolean({ description: 'Whether the person has been identified.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the person was first seen.' }),
    last_seen_at: orNull(
      Type.String({ format: 'date-time' }),
      "When the person's latest event happened. Null unless the list is requested with `last_seen=true`, and for persons without events.",
    ),
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
  last_seen_at: null,
};
