import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';

export const group = Type.Object(
  {
    group_type: Type.Union([Type.String(), Type.Null()], { description: 'Name of the type, e.g. `company`.' }),
    group_type_index: Type.Integer({ description: 'Number of the type within the project, 0 to 4.' }),
    group_key: Type.String({ description: 'Key of the group within its type.' }),
    group_properties: freeFormObject({ description: 'Current group properties.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the group was first seen.' }),
  },
  { title: 'Group' },
);

export const groupExample = {
  group_type: 'company',
  group_type_index: 0,
  group_key: 'acme',
  group_properties: { name: 'Acme Ltd', seats: 12 },
  created_at: '2026-11-20T08:15:00Z',
};
