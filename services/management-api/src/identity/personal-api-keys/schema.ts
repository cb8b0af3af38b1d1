import type { Columns } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';

const moment = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

export const personalApiKey = Type.Object(
  {
    id: Type.String({ description: 'ID of the key.' }),
    label: Type.String({ description: 'Label that describes what the key is used for.' }),
    value: Type.Union([Type.String(), Type.Null()], {
      description: 'Value of the key. Returned only when the key is created or rolled. Otherwise null.',
    }),
    mask_value: Type.String({ description: 'Beginning and end of the key value, to help you identify the key.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the key was created.' }),
    last_used_at: moment('When the key was last used, accurate to the hour. Null if the key has never been used.'),
    last_rolled_at: moment('When the key was last rolled. Null if the key has never been rolled.'),
    expires_at: moment('When the key expires. Null if the key does not expire.'),
    user_id: Type.Integer({ description: 'ID of the user who owns the key.' }),
    scopes: Type.Array(Type.String(), {
      description: 'Scopes of the key, as `object:read` or `object:write`. `*` means all scopes.',
    }),
    scoped_teams: Type.Array(Type.Integer(), {
      description:
        'IDs of the environments to which the key is limited. Empty if the key is not limited to environments.',
    }),
    scoped_organizations: Type.Array(Type.String({ format: 'uuid' }), {
      description:
        'IDs of the organizations to which the key is limited. Empty if the key is not limited to organizations.',
    }),
  },
  { title: 'PersonalApiKey' },
);

const label = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Label that describes what the key is used for.',
});
const scopes = Type.Array(Type.String(), {
  description:
    'Scopes of the key. At least one is required. Must not contain scopes that the key used for the request does ' +
    'not have.',
});
const reach = {
  scoped_teams: Type.Optional(
    Type.Array(Type.Integer(), { description: 'IDs of the environments to which to limit the key.' }),
  ),
  scoped_organizations: Type.Optional(
    Type.Array(Type.String(), { description: 'IDs of the organizations to which to limit the key.' }),
  ),
  expires_at: Type.Optional(
    Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the key expires. By default, or if null, the key does not expire.',
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

/**
 * Converts a key to an API response for its user.
 * @param value the key itself directly after it was created or rolled, otherwise null
 */
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
