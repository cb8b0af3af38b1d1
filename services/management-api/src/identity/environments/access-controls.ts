// Declares the routes for project and environment access rules, and converts the rules to responses.

import {
  type AccessLevel,
  type AccessRuleSubject,
  accessLevels,
  changeEnvironmentAccessRule,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { maskNotFound } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type BasePath, defineRoutes } from '../../access/define-route.ts';
import { environment, environmentExample } from './schema.ts';
import { type AddressedRecord, type RecordDeps, type ShowRecord, toAccessLevel } from './show.ts';
import { findDefaultAccess, listAccessRules } from './store.ts';

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const nullableId = (description: string) => Type.Union([Type.String({ format: 'uuid' }), Type.Null()], { description });

export const accessRule = Type.Object(
  {
    access_level: nullableText(
      'Access level that the rule grants: `none`, `member` or `admin` for a project; `none`, `viewer`, `editor` or ' +
        '`manager` for records. Null if the rule was removed.',
    ),
    resource: Type.String({ description: '`project`, or the record type.' }),
    resource_id: nullableText(
      'ID of the project, environment or record. Null if the rule is for all records of the type.',
    ),
    organization_member: nullableText(
      'ID of the membership that the rule is for. Null if the rule is for everyone or for a role.',
    ),
    role: nullableText('ID of the role that the rule is for. Null if the rule is for everyone or for a member.'),
    created_by: nullableId('UUID of the user who created the rule; null if not known.'),
    created_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the rule was created.',
    }),
    updated_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the rule was last changed.',
    }),
  },
  { title: 'AccessRule' },
);
export type AccessRule = Static<typeof accessRule>;

const accessRules = Type.Object(
  {
    access_controls: Type.Array(accessRule, {
      description: 'The access rules: first the rule for everyone, then the rules for members and roles.',
    }),
    available_access_levels: Type.Array(Type.String(), { description: 'Access levels that a rule can grant.' }),
    default_access_level: Type.String({ description: 'Access level of members if no rule applies.' }),
    user_access_level: nullableText('Your own access level.'),
    user_can_edit_access_levels: Type.Boolean({ description: 'Whether you can change the rules.' }),
  },
  { title: 'AccessRules' },
);

export const ruleExample = {
  access_level: 'member',
  resource: 'project',
  resource_id: '1',
  organization_member: '0193f0c5-7a4e-7000-8000-0000000000cc',
  role: null,
  created_by: '0193f0c5-7a4e-7000-8000-0000000000bb',
  created_at: '2026-11-21T12:00:00Z',
  updated_at: '2026-11-21T12:00:00Z',
};

export const ruleTarget = {
  organization_member: Type.Optional(
    nullableId(
      'ID of the membership that the rule is for. Without `organization_member` and `role`, the rule is for everyone.',
    ),
  ),
  role: Type.Optional(nullableId('ID of the role that the rule is for.')),
};

const ruleChange = Type.Object(
  {
    access_level: Type.Unknown({ description: '`none`, `member` or `admin`, or null to remove the rule.' }),
    ...ruleTarget,
  },
  { title: 'AccessRuleChange' },
);

export function parseAccessRuleChange<Level extends string>(
  {
    access_level: levelName,
    organization_member: membershipId = null,
    role: roleId = null,
  }: { access_level: unknown; organization_member?: string | null; role?: string | null },
  levels: readonly Level[],
): { level: Level | null } & AccessRuleSubject {
  const level = levelName === null ? null : levels.find((known) => known === levelName);
  if (level === undefined) {
    throw new AppError('invalid', `Invalid access level. Must be one of: ${levels.join(', ')}`);
  }
  if (membershipId !== null && roleId !== null) {
    throw new AppError('invalid', 'You can not scope an access control to both a member and a role.');
  }
  return { level, membershipId: membershipId?.toLowerCase() ?? null, roleId: roleId?.toLowerCase() ?? null };
}

/** Returns the response to a rule change: the current rule, or the member or role whose rule was removed. */
export function toRuleChangeResponse(
  rules: AccessRule[],
  { membershipId, roleId }: AccessRuleSubject,
  removed: Partial<AccessRule>,
): AccessRule {
  const now = rules.find((rule) => rule.organization_member === membershipId && rule.role === roleId);
  return now ?? describeRule({ ...removed, organization_member: membershipId, role: roleId });
}

const ruleEffects =
  '`none` for a member or role blocks access. Rules only have an effect if the plan includes project ' +
  'permissions, and a rule that grants access to a member or role only has an effect if there is also a rule for ' +
  'everyone. If several rules apply, the highest level wins. Administrators and owners of the organization always ' +
  'have access.';
const ruleChangeExample = { access_level: 'member', organization_member: ruleExample.organization_member };

/**
 * Requires that the caller is an administrator, because only administrators can change access rules.
 * @throws AppError `forbidden`
 */
function requireRuleLevel(found: AddressedProject): AddressedProject {
  if (found.level >= membershipLevels.administrator) return found;
  throw new AppError('forbidden', 'Must be admin to modify project permissions.');
}

async function changeRule(
  { sql, transaction }: AccessDeps,
  { caller, target: { environmentId }, body }: AddressedRecord & { body: Static<typeof ruleChange> },
): Promise<AccessRule> {
  const rule = parseAccessRuleChange<AccessLevel>(body, accessLevels);
  await maskNotFound(() =>
    transaction((tx) => changeEnvironmentAccessRule(tx, { environmentId, ...rule, actor: caller })),
  );
  return toRuleChangeResponse(await readAccessRules(sql, environmentId), rule, ofProject(environmentId));
}

type AccessDeps = Pick<RecordDeps, 'sql' | 'transaction'>;

/**
 * Creates the routes for a project's access rules.
 * @param readable finds the project for GET requests, even if it is deleted. The rules of a deleted project tell the
 *   Terraform provider that no one can access it.
 */
export function projectAccessRoutes(
  deps: AccessDeps,
  {
    below,
    readable,
  }: {
    below: BasePath<AddressedProject>[];
    readable: BasePath<{ environmentId: number; level: number | null }>[];
  },
) {
  return [
    ...defineRoutes({
      below: readable,
      method: 'GET',
      path: '/access_controls',
      operationId: 'access_controls',
      summary: "Show a project's access control",
      description:
        'Returns the rules for everyone, for members and for roles, and your own access level. For a few minutes after a project is deleted, the response contains a single rule: `none` for everyone.',
      tags: ['projects'],
      scope: 'project:read',
      responses: { 200: { description: 'The access rules.', schema: accessRules } },
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
            ? [describeRule({ ...ofProject(id), access_level: 'none' })]
            : await readAccessRules(deps.sql, id),
        available_access_levels: [...accessLevels],
        default_access_level: 'member',
        user_access_level: toAccessLevel(level),
        user_can_edit_access_levels: level !== null && level >= membershipLevels.administrator,
      }),
    }),
    ...defineRoutes({
      below,
      method: 'PUT',
      path: '/access_controls',
      operationId: 'access_controls_update',
      summary: "Change a project's access control",
      description:
        'Sets the rule for everyone, for one member, or for a role. `none` for everyone makes the project private; ' +
        ruleEffects,
      tags: ['projects'],
      scope: 'project:write',
      body: ruleChange,
      responses: { 200: { description: 'The updated rule.', schema: accessRule } },
      examples: { request: ruleChangeExample, response: ruleExample },
      target: async ({ found }) => requireRuleLevel(found),
      handler: (context) => changeRule(deps, context),
    }),
  ];
}

/**
 * Creates the routes for an environment's access rules. GET returns the environment itself
 * (docs/api/README.md#routes-and-fields). Its `access_control`, `effective_membership_level` and `user_access_level`
 * describe the access. The project's route returns the rules.
 */
export function environmentAccessRoutes(
  deps: AccessDeps,
  { below, show }: { below: BasePath<AddressedProject>[]; show: ShowRecord },
) {
  return [
    ...defineRoutes({
      below,
      method: 'GET',
      path: '/access_controls',
      operationId: 'access_controls',
      summary: "Show an environment's access control",
      description:
        'Returns the environment. To read the rules for members and roles, send the same request to its project.',
      tags: ['environments'],
      scope: 'project:read',
      responses: { 200: { description: 'The environment.', schema: environment } },
      examples: { response: environmentExample },
      handler: show,
    }),
    ...defineRoutes({
      below,
      method: 'PUT',
      path: '/access_controls',
      operationId: 'access_controls_update',
      summary: "Change an environment's access control",
      description:
        'Sets the rule for everyone, for one member, or for a role. `none` for everyone makes the environment private; ' +
        ruleEffects,
      tags: ['environments'],
      scope: 'project:write',
      body: ruleChange,
      responses: { 200: { description: 'The updated rule.', schema: accessRule } },
      examples: { request: ruleChangeExample, response: ruleExample },
      target: async ({ found }) => requireRuleLevel(found),
      handler: (context) => changeRule(deps, context),
    }),
  ];
}

const ofProject = (environmentId: number) => ({ resource: 'project', resource_id: String(environmentId) });

async function readAccessRules(sql: Sql, environmentId: number): Promise<AccessRule[]> {
  const [access, rows] = await Promise.all([
    findDefaultAccess(sql, environmentId),
    listAccessRules(sql, environmentId, { resource: 'project', resourceId: null }),
  ]);
  const forAll = access?.access_control ? ('none' as const) : (access?.default_access_level ?? null);
  return [
    ...(forAll === null ? [] : [describeRule({ ...ofProject(environmentId), access_level: forAll })]),
    ...rows.map((row) => toAccessRule({ ...row, ...ofProject(environmentId) })),
  ];
}

export function toAccessRule({
  level,
  created_at,
  updated_at,
  ...row
}: Awaited<ReturnType<typeof listAccessRules>>[number]): AccessRule {
  return {
    access_level: level,
    resource: row.resource,
    resource_id: row.resource_id,
    organization_member: row.organization_member,
    role: row.role,
    created_by: row.created_by,
    created_at: formatDateTime(created_at),
    updated_at: formatDateTime(updated_at),
  };
}

/**
 * Returns an access rule with null for missing fields. The rule for everyone has neither a creator nor times, because
 * the activity log contains its history.
 */
function describeRule(rule: Partial<AccessRule>): AccessRule {
  const empty = { access_level: null, resource: 'project', resource_id: null, organization_member: null, role: null };
  return { ...empty, created_by: null, created_at: null, updated_at: null, ...rule };
}
