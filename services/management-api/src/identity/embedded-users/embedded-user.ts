import type { Columns } from '@millrace/db';
import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';

/**
 * A user embedded in another record, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields).
 */
export const embeddedUser = Type.Object(
  {
    id: Type.Integer({ description: 'Numeric ID of the user.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the user.' }),
    distinct_id: Type.String({ description: "Distinct ID of the user in Millrace's own product analytics." }),
    first_name: Type.String({ description: 'First name.' }),
    last_name: Type.String({ description: 'Last name.' }),
    email: Type.String({ description: 'Email address.' }),
    is_email_verified: Type.Boolean({ description: 'Whether the email address has been verified.' }),
    hedgehog_config: freeFormObject({ description: 'Free-form settings. Empty if not set.' }),
    role_at_organization: Type.String({ description: 'Job role of the user. Empty if not known.' }),
  },
  { title: 'User', description: 'A user.' },
);

export const embeddedUserExample = {
  id: 1,
  uuid: '0193f0c5-7a4e-7000-8000-0000000000bb',
  distinct_id: 'Xw9x0l1Jg6cU',
  first_name: 'Ada',
  last_name: 'Example',
  email: 'ada@example.com',
  is_email_verified: true,
  hedgehog_config: {},
  role_at_organization: 'engineering',
};

export interface EmbeddedUserRow
  extends Columns<
    'user',
    'id' | 'uuid' | 'distinct_id' | 'first_name' | 'last_name' | 'email' | 'is_email_verified' | 'role_at_organization'
  > {
  hedgehog_config: Record<string, unknown>;
}
