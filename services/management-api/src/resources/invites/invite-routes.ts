import { revokeInvite } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { defineRoute } from '../../access/define-route.ts';
import { hideMissing } from '../../access/hide-missing.ts';
import type { InviteMailing } from './invite-mailing.ts';
import { inviteMembers } from './invite-members.ts';
import { invite, inviteExample, newInvite } from './invite-schema.ts';
import { listInvites } from './invite-store.ts';
import { parseInvites } from './parse-invites.ts';
import { toInvite } from './to-invite.ts';

export interface InviteRouteDeps extends Pick<Database, 'sql' | 'transaction'> {
  inviteMailing: InviteMailing;
}

/** Invites of an organization (docs/api-rules.md#ordered-routes, rows 9 to 12). */
export function inviteRoutes(deps: InviteRouteDeps) {
  const { sql, transaction } = deps;
  const path = '/api/organizations/:organization_id/invites';
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'organizations_invites_list',
      summary: 'List the invites of an organization',
      description:
        'Invites nobody has accepted yet, expired ones included, the newest first. Access to projects that are private to others is left out.',
      tags: ['invites'],
      scope: 'organization_member:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of invites.', schema: offsetPageOf(invite) } },
      examples: { response: { count: 1, next: null, previous: null, results: [inviteExample] } },
      target: addressedOrganization(sql),
      handler: async ({ caller, target: { organizationId }, query, request }) => {
        const { count, rows } = await listInvites(sql, { userId: caller.userId, organizationId }, query);
        const now = new Date();
        return offsetPage(request, query, { count, results: rows.map((row) => toInvite(row, now)) });
      },
    }),
    defineRoute({
      method: 'POST',
      path,
      operationId: 'organizations_invites_create',
      summary: 'Invite somebody',
      description:
        'Invites a person by e-mail address; an earlier invite of the same person is replaced. More than level 1 needs a key with all scopes. Who accepts as a new user gets a key that can do no more than the one that invited, and the invite ends when that one does. The mail is sent when the installation has a mail server, and `emailing_attempt_made` tells whether it was tried. Mails count towards what the organization may send in an hour; beyond that the invite is made and not mailed, and the mail goes out when the person is invited again in the next hour.',
      tags: ['invites'],
      scope: 'organization_member:write',
      params: organizationParams,
      body: newInvite,
      responses: { 201: { description: 'The invite.', schema: invite } },
      examples: { request: { target_email: 'grace@example.com', first_name: 'Grace' }, response: inviteExample },
      target: addressedOrganization(sql),
      handler: async ({ caller, target, body }) => {
        const [created] = await inviteMembers(deps, { caller, membership: target, invites: [body], isBulk: false });
        if (!created) throw new Error('An invite was created and is not there.');
        return created;
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/bulk`,
      operationId: 'organizations_invites_bulk_create',
      summary: 'Invite several people',
      description:
        'Takes a list of up to 20 invites, or one invite. All are created or none; the error of one names it as `<index>__<field>`. Which of them were mailed tells `emailing_attempt_made`, as with a single one.',
      tags: ['invites'],
      scope: 'organization_member:write',
      params: organizationParams,
      body: Type.Unknown({ description: 'A list of up to 20 invites, or one invite.' }),
      responses: { 200: { description: 'All were created.', schema: Type.Array(invite), onlyIfPreferred: true } },
      examples: {
        request: [
          { target_email: 'grace@example.com' },
          { target_email: 'alan@example.com', level: membershipLevels.administrator },
        ],
        response: [inviteExample],
      },
      target: addressedOrganization(sql),
      handler: async ({ caller, target, body }) =>
        inviteMembers(deps, { caller, membership: target, invites: parseInvites(body), isBulk: Array.isArray(body) }),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'organizations_invites_destroy',
      summary: 'Withdraw an invite',
      description: 'Removes the invite; it can no longer be accepted.',
      tags: ['invites'],
      scope: 'organization_member:write',
      params: Type.Object({
        ...organizationParams.properties,
        id: Type.String({ format: 'uuid', description: 'Id (UUID) of the invite.' }),
      }),
      responses: { 204: { description: 'Withdrawn.' } },
      target: addressedOrganization(sql),
      handler: async ({ caller, target: { organizationId }, params }) => {
        const invite = { inviteId: params.id, organizationId, actor: caller };
        await hideMissing(() => transaction((tx) => revokeInvite(tx, invite)));
        return undefined;
      },
    }),
  ];
}
