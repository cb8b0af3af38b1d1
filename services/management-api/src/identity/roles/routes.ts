// Declares the routes for an organization's roles and role members (docs/api/access.md#roles).

import { assignRole, createRole, findRole, removeRole, renameRole, unassignRole } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { maskNotFound } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import { member, memberExample, toMember } from '../members/schema.ts';
import { findRoles, listRoleMembers, type RoleMemberRow, type RoleRow } from './store.ts';

const roleMember = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the role membership.' }),
    role_id: Type.String({ format: 'uuid', description: 'ID of the role.' }),
    organization_member: member,
    user: embeddedUser,
    joined_at: Type.String({ format: 'date-time', description: 'When the role was assigned to the member.' }),
    updated_at: Type.String({ format: 'date-time', description: 'Always equal to `joined_at`.' }),
  },
  { title: 'RoleMembership' },
);

const role = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the role.' }),
    name: Type.String({ description: 'Name of the role. Unique within the organization, ignoring case.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the role was created.' }),
    created_by: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'UUID of the user who created the role. Null if the user is not known.',
    }),
    members: Type.Array(roleMember, {
      description: 'The first 20 members with the role. To get all members, use `role_memberships`.',
    }),
    is_default: Type.Boolean({ description: 'Always false, because new members do not get a role automatically.' }),
  },
  { title: 'Role' },
);

const roleName = Type.String({ maxLength: 200, description: 'Name of the role.' });
const newRole = Type.Object({ name: roleName }, { title: 'RoleToCreate' });
const roleChanges = Type.Object({ name: Type.Optional(roleName) }, { title: 'RoleChanges' });
const newMember = Type.Object(
  { user_uuid: Type.String({ description: 'UUID of the user, who must be a member of the organization.' }) },
  { title: 'RoleMembershipToCreate' },
);

const memberOfRole = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e2',
  role_id: '0193f0c5-7a4e-7000-8000-0000000000e1',
  organization_member: memberExample,
  user: embeddedUserExample,
  joined_at: '2026-11-21T12:00:00Z',
  updated_at: '2026-11-21T12:00:00Z',
};
const roleExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e1',
  name: 'Support',
  created_at: '2026-11-21T12:00:00Z',
  created_by: embeddedUserExample.uuid,
  members: [memberOfRole],
  is_default: false,
};

const roleParams = Type.Object({
  ...organizationParams.properties,
  id: Type.String({ description: 'ID of the role.' }),
});
const membersParams = Type.Object({
  ...organizationParams.properties,
  role_id: Type.String({ description: 'ID of the role.' }),
});
const memberParams = Type.Object({
  ...membersParams.properties,
  id: Type.String({ description: 'ID of the role membership.' }),
});

const rolesPath = '/api/organizations/:organization_id/roles';
const common = { tags: ['roles'] as [string] };

/**
 * Creates the role routes. Every member can list the roles. Only administrators and owners can create, change and
 * assign roles.
 */
export function roleRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  return [...roleReadRoutes(database), ...roleWriteRoutes(database), ...roleMemberRoutes(database)];
}

function roleReadRoutes({ sql }: Pick<Database, 'sql'>) {
  const target = addressedOrganization(sql);
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: rolesPath,
      operationId: 'roles_list',
      summary: 'List roles',
      description: 'Returns the roles of the organization, ordered by name, with their members.',
      scope: 'organization:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of roles.', schema: offsetPageSchema(role) } },
      examples: { response: { count: 1, next: null, previous: null, results: [roleExample] } },
      target,
      handler: async ({ target: { organizationId }, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await findRoles(sql, organizationId, window);
          return { count, results: rows.map(toRole) };
        }),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: `${rolesPath}/:id`,
      operationId: 'roles_retrieve',
      summary: 'Show a role',
      description: 'Returns a role with its members.',
      scope: 'organization:read',
      params: roleParams,
      responses: { 200: { description: 'The role.', schema: role } },
      examples: { response: roleExample },
      target,
      handler: async ({ target: { organizationId }, params: { id } }) => showRole(sql, organizationId, id),
    }),
  ];
}

async function showRole(sql: Database['sql'], organizationId: string, id: string) {
  const [row] = (await findRoles(sql, organizationId, { id, limit: 1, offset: 0 })).rows;
  if (!row) throw new AppError('not_found', 'Not found.');
  return toRole(row);
}

function roleWriteRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const writing = {
    ...common,
    scope: 'organization:write',
    level: membershipLevels.administrator,
    isSensitive: true,
    target: addressedOrganization(sql),
  } as const;
  return [
    defineRoute({
      ...writing,
      method: 'POST',
      path: rolesPath,
      operationId: 'roles_create',
      summary: 'Create a role',
      description: 'Creates a role. A role has no effect until an access rule for a project or a record refers to it.',
      params: organizationParams,
      body: newRole,
      responses: { 201: { description: 'The new role.', schema: role } },
      examples: { request: { name: 'Support' }, response: { ...roleExample, members: [] } },
      handler: async ({ caller, target: { organizationId }, body: { name } }) =>
        transaction(async (tx) => {
          const { id } = await createRole(tx, { organizationId, name, actor: caller });
          return showRole(tx, organizationId, id);
        }),
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        ...writing,
        method,
        path: `${rolesPath}/:id`,
        operationId: method === 'PUT' ? 'roles_update' : 'roles_partial_update',
        summary: 'Rename a role',
        description: 'Renames the role. Its members and its access rules do not change.',
        params: roleParams,
        body: method === 'PUT' ? newRole : roleChanges,
        responses: { 200: { description: 'The role.', schema: role } },
        examples: { request: { name: 'Support' }, response: roleExample },
        handler: async ({ caller, target: { organizationId }, params: { id: roleId }, body }) =>
          maskNotFound(() =>
            transaction(async (tx) => {
              const { name }: Static<typeof roleChanges> = body;
              if (name !== undefined) await renameRole(tx, { organizationId, roleId, name, actor: caller });
              return showRole(tx, organizationId, roleId);
            }),
          ),
      }),
    ),
    defineRoute({
      ...writing,
      method: 'DELETE',
      path: `${rolesPath}/:id`,
      operationId: 'roles_destroy',
      summary: 'Delete a role',
      description: 'Deletes the role and all access rules that refer to it. Its members remain in the organization.',
      params: roleParams,
      responses: { 204: { description: 'The role was deleted.' } },
      handler: async ({ caller, target: { organizationId }, params: { id: roleId } }) => {
        await maskNotFound(() => transaction((tx) => removeRole(tx, { organizationId, roleId, actor: caller })));
        return undefined;
      },
    }),
  ];
}

function roleMemberRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const path = `${rolesPath}/:role_id/role_memberships`;
  const target = addressedOrganization(sql);
  const requireRole = async (organizationId: string, id: string) => {
    if (!(await findRole(sql, organizationId, id))) throw new AppError('not_found', 'Not found.');
  };
  const writing = {
    scope: 'organization:write',
    level: membershipLevels.administrator,
    isSensitive: true,
  } as const;
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path,
      operationId: 'roles_role_memberships_list',
      summary: 'List members of a role',
      description: 'Returns the members who have the role, in the order in which the role was assigned to them.',
      scope: 'organization:read',
      params: membersParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of role memberships.', schema: offsetPageSchema(roleMember) } },
      examples: { response: { count: 1, next: null, previous: null, results: [memberOfRole] } },
      target,
      handler: async ({ target: { organizationId }, params: { role_id: roleId }, query, request }) => {
        await requireRole(organizationId, roleId);
        return offsetPage(request, query, async (window) => {
          const { count, rows } = await listRoleMembers(sql, roleId, window);
          return { count, results: rows.map(toRoleMember) };
        });
      },
    }),
    defineRoute({
      ...common,
      ...writing,
      method: 'POST',
      path,
      operationId: 'roles_role_memberships_create',
      summary: 'Assign a role to a member',
      description:
        'Assigns the role to a member of the organization. Access rules for the role apply to the member from the ' +
        'next ' +
        'request.',
      params: membersParams,
      body: newMember,
      responses: { 201: { description: 'The role membership.', schema: roleMember } },
      examples: { request: { user_uuid: embeddedUserExample.uuid }, response: memberOfRole },
      target,
      handler: async ({ caller, target: { organizationId }, params: { role_id: roleId }, body }) =>
        maskNotFound(() =>
          transaction(async (tx) => {
            const userUuid = body.user_uuid;
            const id = await assignRole(tx, { organizationId, roleId, userUuid, actor: caller });
            return showRoleMember(tx, roleId, id);
          }),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: `${path}/:id`,
      operationId: 'roles_role_memberships_retrieve',
      summary: 'Show a role membership',
      description: 'Returns one member who has the role.',
      scope: 'organization:read',
      params: memberParams,
      responses: { 200: { description: 'The role membership.', schema: roleMember } },
      examples: { response: memberOfRole },
      target,
      handler: async ({ target: { organizationId }, params: { role_id: roleId, id } }) => {
        await requireRole(organizationId, roleId);
        return showRoleMember(sql, roleId, id);
      },
    }),
    defineRoute({
      ...common,
      ...writing,
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'roles_role_memberships_destroy',
      summary: 'Remove a role from a member',
      description: 'Removes the role from the member, who remains in the organization.',
      params: memberParams,
      responses: { 204: { description: 'The role was removed from the member.' } },
      target,
      handler: async ({ caller, target: { organizationId }, params: { role_id: roleId, id } }) => {
        await maskNotFound(() => transaction((tx) => unassignRole(tx, { organizationId, roleId, id, actor: caller })));
        return undefined;
      },
    }),
  ];
}

async function showRoleMember(sql: Database['sql'], roleId: string, id: string) {
  const [row] = (await listRoleMembers(sql, roleId, { id, limit: 1, offset: 0 })).rows;
  if (!row) throw new AppError('not_found', 'Not found.');
  return toRoleMember(row);
}

function toRole({ id, name, created_at, created_by, members }: RoleRow) {
  return {
    id,
    name,
    created_at: formatDateTime(created_at),
    created_by,
    members: members.map(toRoleMember),
    is_default: false,
  };
}

function toRoleMember({ id, role_id, organization_member: of, joined_at, updated_at }: RoleMemberRow) {
  return {
    id,
    role_id,
    organization_member: toMember(of),
    user: of.user,
    joined_at: formatDateTime(joined_at),
    updated_at: formatDateTime(updated_at),
  };
}
