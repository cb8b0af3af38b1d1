import { accessLevels, changeAccessRule } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { type TObject, Type } from 'typebox';
import { defineRoute } from '../../access/define-route.ts';
import { hideMissing } from '../../access/hide-missing.ts';
import type { ItemDeps, ItemFamily } from './item-family.ts';
import { describeRule, readAccessRules } from './read-access-rules.ts';
import { accessLevelOf } from './to-environment.ts';

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const accessRule = Type.Object(
  {
    access_level: nullableText('`none`, `member`, `admin`; null for a rule that was removed.'),
    resource: Type.String({ description: 'Always `project`.' }),
    resource_id: Type.String({ description: 'Id of the project or environment.' }),
    organization_member: nullableText('Membership it is for; null: everybody.'),
    role: Type.Null({ description: 'Always null: there are no roles.' }),
    created_by: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'UUID of the user who made it; null when not known.',
    }),
    created_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'When.' }),
    updated_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'Changed when.' }),
  },
  { title: 'AccessRule' },
);

const accessRules = Type.Object(
  {
    access_controls: Type.Array(accessRule, {
      description: 'The rules: the one for everybody, then those for members.',
    }),
    available_access_levels: Type.Array(Type.String(), { description: 'What a rule may say.' }),
    default_access_level: Type.String({ description: 'What members may do where there is no rule.' }),
    user_access_level: nullableText('What the caller may do.'),
    user_can_edit_access_levels: Type.Boolean({ description: 'Whether the caller may change the rules.' }),
  },
  { title: 'AccessRules' },
);

const ruleExample = {
  access_level: 'member',
  resource: 'project',
  resource_id: '1',
  organization_member: '0193f0c5-7a4e-7000-8000-0000000000cc',
  role: null,
  created_by: '0193f0c5-7a4e-7000-8000-0000000000bb',
  created_at: '2026-11-21T12:00:00Z',
  updated_at: '2026-11-21T12:00:00Z',
};

const ruleChange = Type.Object({
  access_level: Type.Unknown({ description: '`none`, `member`, `admin`, or null to remove the rule.' }),
  organization_member: Type.Optional(
    Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'Membership it is for; absent: everybody.',
    }),
  ),
  role: Type.Optional(Type.Unknown({ description: 'There are no roles: refused unless null.' })),
});

type RuleFamily<P extends TObject> = Pick<ItemFamily<P>, 'kind' | 'path' | 'prefix' | 'params' | 'target'>;

/** Changing who may use a private project or environment: the same for every path under which it is addressed. */
export function accessRuleChangeRoute<P extends TObject>(
  { sql, transaction, announceKeyChange }: Pick<ItemDeps, 'sql' | 'transaction' | 'announceKeyChange'>,
  { kind, path, prefix, params, target }: RuleFamily<P>,
) {
  return defineRoute({
    method: 'PUT',
    path: `${path}/access_controls`,
    operationId: `${prefix}_access_controls_update`,
    summary: `Say who may use ${kind === 'project' ? 'a project' : 'an environment'}`,
    description:
      'Sets the rule for everybody (`none` makes it private) or for one member (`none` shuts the member out). Rules count where the plan has project permissions, those that give a member something only beside a rule for everybody; of both the highest counts. Administrators and owners of the organization have access whatever the rules say.',
    tags: [`${kind}s`],
    scope: 'project:write',
    params,
    body: ruleChange,
    responses: { 200: { description: 'The rule as it is now.', schema: accessRule } },
    examples: {
      request: { access_level: 'member', organization_member: ruleExample.organization_member },
      response: ruleExample,
    },
    target: async (context) => {
      const found = await target(context);
      if (found.level < membershipLevels.administrator)
        throw new AppError('forbidden', 'Must be admin to modify project permissions.');
      return found;
    },
    handler: async ({ caller, target: found, body }) => {
      const { access_level: given, organization_member: membershipId = null, role = null } = body;
      const level = given === null ? null : accessLevels.find((known) => known === given);
      if (level === undefined) {
        throw new AppError('invalid', `Invalid access level. Must be one of: ${accessLevels.join(', ')}`);
      }
      if (role !== null) {
        throw new AppError(
          'invalid',
          membershipId === null
            ? 'There are no roles.'
            : 'You can not scope an access control to both a member and a role.',
        );
      }
      const change = { environmentId: found.environmentId, membershipId, level, actor: caller };
      const token = await hideMissing(() => transaction((tx) => changeAccessRule(tx, change)));
      announceKeyChange([token]);
      const rules = await readAccessRules(sql, found.environmentId);
      const now = rules.find((rule) => rule.organization_member === membershipId);
      return now ?? describeRule(found.environmentId, { level: null, membershipId });
    },
  });
}

/** Reading and changing the rules of a project. For environments the contract has another answer to the reading. */
export function accessRuleRoutes<P extends TObject>(
  deps: Pick<ItemDeps, 'sql' | 'transaction' | 'announceKeyChange'>,
  family: RuleFamily<P>,
) {
  const { path, prefix, params, target } = family;
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/access_controls`,
      operationId: `${prefix}_access_controls`,
      summary: 'Show who may use a project',
      description: 'The rules for everybody and for single members, and what the caller may do.',
      tags: ['projects'],
      scope: 'project:read',
      params,
      responses: { 200: { description: 'The rules.', schema: accessRules } },
      examples: {
        response: {
          access_controls: [ruleExample],
          available_access_levels: [...accessLevels],
          default_access_level: 'member',
          user_access_level: 'admin',
          user_can_edit_access_levels: true,
        },
      },
      target,
      handler: async ({ target: found }) => ({
        access_controls: await readAccessRules(deps.sql, found.environmentId),
        available_access_levels: [...accessLevels],
        default_access_level: 'member',
        user_access_level: accessLevelOf(found.level),
        user_can_edit_access_levels: found.level >= membershipLevels.administrator,
      }),
    }),
    accessRuleChangeRoute(deps, family),
  ];
}
