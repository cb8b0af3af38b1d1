// Personal API keys as requests and answers have them.

import type { Columns } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';

const moment = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

/** A personal API key (docs/api/personal-api-keys.md). */
export const personalApiKey = Type.Object(
  {
    id: Type.String({ description: 'Id of the key.' }),
    label: Type.String({ description: 'What it is for.' }),
    value: Type.Union([Type.String(), Type.Null()], {
      description: 'The key itself: only in the answer that made it, null ever after.',
    }),
    mask_value: Type.String({ description: 'Beginning and end of the key, to recognize it.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
    last_used_at: moment('When it was last used, to the hour; null when never.'),
    last_rolled_at: moment('When it last got a new value; null when never.'),
    expires_at: moment('When it stops working; null when never.'),
    user_id: Type.Integer({ description: 'The user it belongs to.' }),
    scopes: Type.Array(Type.String(), {
      description: 'What it may do, as `object:read` or `object:write`; `*` is all.',
    }),
    scoped_teams: Type.Array(Type.Integer(), { description: 'Environments it is limited to; empty for no limit.' }),
    scoped_organizations: Type.Array(Type.String({ format: 'uuid' }), {
      description: 'Organizations it is limited to; empty for no limit.',
    }),
  },
  { title: 'PersonalApiKey' },
);

const label = Type.String({ minLength: 1, maxLength: 40, description: 'What the key is for.' });
const scopes = Type.Array(Type.String(), {
  description: 'At least one scope, none that the key of this request lacks.',
});
const reach = {
  scoped_teams: Type.Optional(Type.Array(Type.Integer(), { description: 'Environments to limit it to.' })),
  scoped_organizations: Type.Optional(
    Type.Array(Type.String(), { description: 'Ids of the organizations to limit it to.' }),
  ),
  expires_at: Type.Optional(
    Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it shall stop working; never when null or left out.',
    }),
  ),
};

export const newPersonalApiKey = Type.Object({ label, scopes, ...reach }, { title: 'PersonalApiKeyToCreate' });
export const personalApiKeyChanges = Type.Object(
  {
    label: Type.Optional(label),
    scopes: Type.Optional(scopes),
    ...reach,
  },
  { title: 'PersonalApiKeyChanges' },
);

export const personalApiKeyExample = {
  id: 'k3Vd0m9Jr1b8KcYw5hQ2sXe7L',
  label: 'Terraform',
  value: null,
  mask_value: 'phx_...f3Qz',
  created_at: '2026-11-01T09:00:00Z',
  last_used_at: null,
  last_rolled_at: null,
  expires_at: null,
  user_id: 1,
  scopes: ['project:write'],
  scoped_teams: [],
  scoped_organizations: [],
};

/** A key as it is stored. */
type StoredKey = Columns<
  'personal_api_key',
  | 'id'
  | 'label'
  | 'mask_value'
  | 'created_at'
  | 'last_used_at'
  | 'last_rolled_at'
  | 'expires_at'
  | 'user_id'
  | 'scopes'
  | 'scoped_teams'
  | 'scoped_organizations'
>;

/** @param value the key itself, right after it was made; null ever after. */
export function toPersonalApiKey(key: StoredKey, value: string | null) {
  return {
    ...key,
    value,
    created_at: formatDateTime(key.created_at),
    last_used_at: key.last_used_at && formatDateTime(key.last_used_at),
    last_rolled_at: key.last_rolled_at && formatDateTime(key.last_rolled_at),
    expires_at: key.expires_at && formatDateTime(key.expires_at),
  };
}
