import { blockAddress, removeMember, requireMayEditMember, setMemberLevel } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { maskNotFound } from '../../access/addressed-project.ts';
import { type Caller, isAdministrator, type Membership } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { member, memberChanges, memberExample, toMember } from './schema.ts';
import { findMember, listMembers, type MemberRow, memberOrders } from './store.ts';

const memberParams = Type.Object({
  ...organizationParams.properties,
  user__uuid: Type.String({ description: 'UUID of the user, or `@me` for yourself.' }),
});

const listQuery = Type.Object({
  ...offsetQuery,
  order: Type.Enum(memberOrders, {
    default: '-joined_at',
    description: 'Field to sort by, with a leading `-` for descending order.',
  }),
  updated_after: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Returns only memberships that were changed after this time (ISO 8601).',
    }),
  ),
  email: Type.Optional(Type.String({ description: 'Returns only the member with this email address.' })),
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Returns only members whose name or email address contains this string, ignoring case.',
    }),
  ),
});

export function memberRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const path = '/api/organizations/:organization_id/members';
  const organization = addressedOrganization(sql);

  /** Returns the membership in the path, if the caller is allowed to change it. Runs before body validation. */
  const addressedMember = async (context: {
    caller: Caller;
    params: { organization_id: string; user__uuid: string };
  }): Promise<{ membership: Membership; member: MemberRow }> => {
    const membership = await organization(context);
    const found = await findMemberByParam(context.params.user__uuid, membership, context.caller);
    if (!found) throw new AppError('not_found', 'Not found.');
    requireMayEditMember(
      { userId: context.caller.userId, level: membership.level },
      { userId: found.user.id, level: found.level },
    );
    return { membership, member: found };
  };

  async function findMemberByParam(uuid: string, { organizationId }: Membership, caller: Caller) {
    if (uuid === '@me') return findMember(sql, organizationId, { id: caller.userId });
    const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid);
    return isUuid ? findMember(sql, organizationId, { uuid }) : undefined;
  }

  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'organizations_members_list',
      summary: 'List the members of an organization',
      description:
        'Returns the active members of the organization. By default, the member who joined last comes first.',
      tags: ['members'],
      scope: 'organization_member:read',
      params: organizationParams,
      query: listQuery,
      responses: { 200: { description: 'One page of members.', schema: offsetPageSchema(member) } },
      examples: { response: { count: 1, next: null, previous: null, results: [memberExample] } },
      target: organization,
      handler: async ({ target, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listMembers(sql, {
            organizationId: target.organizationId,
            updatedAfter: query.updated_after === undefined ? undefined : new Date(query.updated_after),
            email: query.email,
            search: query.search,
            order: query.order,
            ...window,
          });
          return { count, results: rows.map(toMember) };
        }),
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        method,
        path: `${path}/:user__uuid`,
        operationId: method === 'PUT' ? 'organizations_members_update' : 'organizations_members_partial_update',
        summary: "Change a member's level",
        description:
          'Changes the membership level of a member. Only administrators and owners can do this. They cannot ' +
          'change members with a ' +
          'higher level than their own, cannot assign a higher level than their own, and cannot change their own ' +
          'level.',
        tags: ['members'],
        scope: 'organization_member:write',
        isSensitive: true,
        params: memberParams,
        body: memberChanges,
        responses: { 200: { description: 'The updated member.', schema: member } },
        examples: { request: { level: membershipLevels.administrator }, response: memberExample },
        target: addressedMember,
        handler: async ({ caller, target, body: { level } }) => {
          if (level === undefined) return toMember(target.member);
          const { organizationId, userId } = addressOf(target);
          return maskNotFound(() =>
            transaction(async (tx) => {
              await setMemberLevel(tx, { organizationId, userId, level, actor: caller });
              return toMember((await findMember(tx, organizationId, { id: userId })) ?? target.member);
            }),
          );
        },
      }),
    ),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:user__uuid`,
      operationId: 'organizations_members_destroy',
      summary: 'Remove a member',
      description:
        'Removes a member from the organization. All members can remove themselves. Administrators and owners can ' +
        'remove members whose ' +
        "level is not higher than their own. Owners must be demoted before they can be removed. The user's account " +
        'and API keys are not deleted. If users can join the organization through one of its ' +
        'domains, send `keep_out=true` to prevent the removed user from joining again. The removed user can still ' +
        'be invited.',
      tags: ['members'],
      scope: 'organization_member:write',
      isSensitive: true,
      params: memberParams,
      query: Type.Object({
        keep_out: Type.Optional(
          Type.Boolean({
            description:
              "Whether to block the member's email address, so that the user cannot join again through one of the " +
              "organization's domains. Requires membership level 8 or higher.",
          }),
        ),
      }),
      responses: { 204: { description: 'The member was removed.' } },
      target: addressedMember,
      handler: async ({ caller, target, query }) => {
        const { organizationId, userId } = addressOf(target);
        const removal = { organizationId, userId, actor: caller };
        if (query.keep_out && !isAdministrator(caller, organizationId)) {
          throw new AppError('forbidden', 'Only administrators and owners can block a user.');
        }
        await maskNotFound(() =>
          transaction(async (tx) => {
            const { email } = await removeMember(tx, removal);
            if (query.keep_out) await blockAddress(tx, { organizationId, email, actor: caller });
          }),
        );
        return undefined;
      },
    }),
  ];
}

function addressOf({ membership, member }: { membership: Membership; member: MemberRow }) {
  return { organizationId: membership.organizationId, userId: member.user.id };
}
