import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';

/** What people do for a living (docs/api-rules.md#users). */
const roles = ['engineering', 'data', 'product', 'founder', 'leadership', 'marketing', 'sales', 'other', ''];

/** What users may change of themselves. Everything else in a body is ignored. */
export const userChanges = Type.Object({
  first_name: Type.Optional(Type.String({ maxLength: 150, description: 'First name.' })),
  last_name: Type.Optional(Type.String({ maxLength: 150, description: 'Last name.' })),
  hedgehog_config: Type.Optional(
    Type.Union([freeFormObject(), Type.Null()], {
      description: 'Free-form settings, 2000 characters at most as JSON; null clears them.',
    }),
  ),
  role_at_organization: Type.Optional(
    Type.Enum(roles, { description: 'What you do for a living; empty when you do not say.' }),
  ),
  set_current_organization: Type.Optional(
    Type.String({ description: 'Id of the organization `@current` shall stand for.' }),
  ),
  set_current_team: Type.Optional(
    Type.Integer({ description: 'Id of the environment `@current` shall stand for; its organization follows.' }),
  ),
});
