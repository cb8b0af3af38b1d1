// Who may use a project or an environment: the routes, and the rules as they are shown.

import { accessLevels, changeAccessRule, toAccessLevel } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { hideMissing } from '../../access/addressed-project.ts';
import { type BasePath, defineRoutes } from '../../access/define-route.ts';
import { accessLevelOf, type ItemDeps, type ItemKind, showItem } from './item.ts';
import { findDefaultAccess, listAccessRules } from './store.ts';

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

const ruleChange = Type.Object(
  {
    access_level: Type.Unknown({ description: '`none`, `member`, `admin`, or null to remove the rule.' }),
    organization_member: Type.Optional(
      Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
        description: 'Membership it is for; absent: everybody.',
      }),
    ),
    role: Type.Optional(Type.Unknown({ description: 'There are no roles: refused unless null.' })),
  },
  { title: 'AccessRuleChange' },
);

/** Changing who may use a private project or environment: the same for every path under which it is addressed. */
function changeAccessRuleRoute(
  { sql, transaction }: Pick<ItemDeps, 'sql' | 'transaction'>,
  { kind, below }: Pick<ItemKind, 'kind' | 'below'>,
) {
  return defineRoutes({
    below,
    method: 'PUT',
    path: '/access_controls',
    operationId: 'access_controls_update',
    summary: `Say who may use ${kind === 'project' ? 'a project' : 'an environment'}`,
    description:
      'Sets the rule for everybody (`none` makes it private) or for one member (`none` shuts the member out). Rules count where the plan has project permissions, those that give a member something only beside a rule for everybody; of both the highest counts. Administrators and owners of the organization have access whatever the rules say.',
    tags: [`${kind}s`],
    scope: 'project:write',
    body: ruleChange,
    responses: { 200: { description: 'The rule as it is now.', schema: accessRule } },
    examples: {
      request: { access_level: 'member', organization_member: ruleExample.organization_member },
      response: ruleExample,
    },
    target: async ({ found }) => {
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
      await hideMissing(() => transaction((tx) => changeAccessRule(tx, change)));
      const rules = await readAccessRules(sql, found.environmentId);
      const now = rules.find((rule) => rule.organization_member === membershipId);
      return now ?? describeRule(found.environmentId, { level: null, membershipId });
    },
  });
}

/**
 * Reading and changing the rules of a project. For environments the API has another answer to the reading.
 *
 * @param readable where the rules are read; a project without a level is one that was removed, and is open to nobody, which
 *   the Terraform provider reads from its rules.
 */
export function accessRuleRoutes(
  deps: Pick<ItemDeps, 'sql' | 'transaction'>,
  kind: Pick<ItemKind, 'kind' | 'below'>,
  readable: BasePath<{ environmentId: number; level: number | null }>[],
) {
  return [
    ...defineRoutes({
      below: readable,
      method: 'GET',
      path: '/access_controls',
      operationId: 'access_controls',
      summary: 'Show who may use a project',
      description:
        'The rules for everybody and for single members, and what the caller may do. For some minutes after a project was removed it has one rule, `none` for everybody.',
      tags: ['projects'],
      scope: 'project:read',
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
      handler: async ({ target: { environmentId: id, level } }) => ({
        access_controls:
          level === null
            ? [describeRule(id, { level: 'none', membershipId: null })]
            : await readAccessRules(deps.sql, id),
        available_access_levels: [...accessLevels],
        default_access_level: 'member',
        user_access_level: accessLevelOf(level),
        user_can_edit_access_levels: level !== null && level >= membershipLevels.administrator,
      }),
    }),
    ...changeAccessRuleRoute(deps, kind),
  ];
}

/**
 * Who may use an environment. Reading answers the environment itself (docs/api-rules.md#routes-and-fields), in
 * which `access_control`, `effective_membership_level` and `user_access_level` tell; the rules are read on the project.
 */
export function accessControlRoutes(deps: ItemDeps, kind: ItemKind) {
  const { below, schema, example } = kind;
  return [
    ...defineRoutes({
      below,
      method: 'GET',
      path: '/access_controls',
      operationId: 'access_controls',
      summary: 'Show an environment with its access control',
      description: 'The environment. The single rules are under the same path of a project.',
      tags: ['environments'],
      scope: 'project:read',
      responses: { 200: { description: 'The environment.', schema } },
      examples: { response: example },
      handler: ({ caller, target }) => showItem(deps, kind, { caller, target }),
    }),
    ...changeAccessRuleRoute(deps, kind),
  ];
}

/** The rules of an environment as the API shows them: the one for everybody, then those for members. */
async function readAccessRules(sql: Sql, environmentId: number) {
  const [access, rows] = await Promise.all([
    findDefaultAccess(sql, environmentId),
    listAccessRules(sql, environmentId),
  ]);
  const forAll = access?.access_control ? ('none' as const) : (access?.default_access_level ?? null);
  return [
    ...(forAll === null ? [] : [describeRule(environmentId, { level: forAll, membershipId: null })]),
    ...rows.map((row) => ({
      ...describeRule(environmentId, { level: toAccessLevel(row.level), membershipId: row.organization_member }),
      created_by: row.created_by,
      created_at: formatDateTime(row.created_at),
      updated_at: formatDateTime(row.updated_at),
    })),
  ];
}

/** A rule of which nobody knows who made it: that for everybody is a setting, whose history is in the activity log. */
function describeRule(
  environmentId: number,
  { level, membershipId }: { level: string | null; membershipId: string | null },
): AccessRule {
  return {
    access_level: level,
    resource: 'project',
    resource_id: String(environmentId),
    organization_member: membershipId,
    role: null,
    created_by: null,
    created_at: null,
    updated_at: null,
  };
}

interface AccessRule {
  access_level: string | null;
  resource: string;
  resource_id: string;
  organization_member: string | null;
  role: null;
  created_by: string | null;
  created_at: string | null;
  updated_at: string | null;
}
