import { timingSafeEqual } from 'node:crypto';
import {
  findInvite,
  getOrganization,
  hashInviteToken,
  inviteExpiresAt,
  isInviteExpired,
  signUpByInvite,
} from '@millrace/accounts';
import type { Database } from '@millrace/db';
import { AppError, isAppError } from '@millrace/errors';
import { type ApiRequest, formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import { defineRoute } from '../../access/define-route.ts';
import { hideMissing } from '../../access/hide-missing.ts';
import type { SignUpLimit } from '../../access/sign-up-limit.ts';
import { acceptAsUser, toJoined } from './accept-invite.ts';
import {
  acceptedInvite,
  acceptedInviteExample,
  invitation,
  invitationExample,
  signedUp,
  signUp,
} from './acceptance-schema.ts';
import { hasAccount } from './has-account-store.ts';
import type { InviteMailing, Joined } from './invite-mailing.ts';

const inviteParams = Type.Object({ id: Type.String({ format: 'uuid', description: 'Id (UUID) of the invite.' }) });

/**
 * Accepting an invite (docs/api-rules.md#invites). Whoever has the secret of the mail may look at the invite and
 * sign up with its address; whoever has an account with that address accepts with a personal API key. To anybody else
 * an invite does not exist.
 */
export function acceptInviteRoutes({
  sql,
  transaction,
  inviteMailing,
  signUpLimit,
}: Pick<Database, 'sql' | 'transaction'> & { inviteMailing: InviteMailing; signUpLimit: SignUpLimit }) {
  const countRequest = ({ request }: { request: ApiRequest }) => signUpLimit.countRequest(request.address);
  /** Who has not the secret is told nothing, and not for ever. */
  const withSecret = <T>(id: string, work: () => Promise<T>): Promise<T> =>
    hideMissing(async () => {
      try {
        return await work();
      } catch (error) {
        if (isAppError(error, 'not_found')) await signUpLimit.countWrong(id);
        throw error;
      }
    });
  /** After the commit. */
  const toldTo = <T extends Joined>(joined: T): T => {
    inviteMailing.notifyJoined(joined);
    return joined;
  };

  return [
    defineRoute({
      method: 'GET',
      path: '/api/signup/:id',
      operationId: 'signup_retrieve',
      summary: 'Look at an invite',
      description: 'Shows who is invited where, to whoever has the secret of the mail. Nothing is accepted by it.',
      tags: ['invites'],
      scope: 'public',
      params: inviteParams,
      query: Type.Object({ token: Type.Optional(Type.String({ description: 'The secret of the mail.' })) }),
      responses: { 200: { description: 'The invite.', schema: invitation } },
      examples: { response: invitationExample },
      target: countRequest,
      handler: async ({ params, query }) => {
        const invite = await withSecret(params.id, async () => {
          const found = await findInvite(sql, params.id);
          requireToken(found, query.token ?? '');
          return found;
        });
        const organization = await getOrganization(sql, invite.organization_id);
        return {
          ...invite,
          organization_name: organization.name,
          expires_at: formatDateTime(inviteExpiresAt(invite)),
          is_expired: isInviteExpired(invite, new Date()),
          has_account: await hasAccount(sql, invite.email_key),
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/signup/:id',
      operationId: 'signup_create',
      summary: 'Accept an invite as a new user',
      description:
        'Makes an account for the invited address, makes it a member, and gives it a first personal API key, which can do no more than the one that invited.',
      tags: ['invites'],
      scope: 'public',
      params: inviteParams,
      body: signUp,
      responses: { 201: { description: 'The account, with its key.', schema: signedUp } },
      examples: {
        request: { token: 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk' },
        response: { ...acceptedInviteExample, personal_api_key: 'phx_exampleexampleexampleexampleexampleexamplef3Qz' },
      },
      target: countRequest,
      handler: async ({ params, body }) =>
        withSecret(params.id, async () =>
          toldTo(
            await transaction(async (tx) => {
              const joined = await signUpByInvite(tx, params.id, {
                now: new Date(),
                firstName: body.first_name,
                lastName: body.last_name,
                // Having got the mail proves the address.
                isEmailVerified: true,
                requireInvited: (invite) => requireToken(invite, body.token),
              });
              return { ...(await toJoined(tx, joined)), personal_api_key: joined.personalApiKey };
            }),
          ),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/invites/:id/accept',
      operationId: 'invites_accept_create',
      summary: 'Accept an invite with your account',
      description: 'Makes you a member of the organization, if the invite is for your e-mail address.',
      tags: ['invites'],
      scope: 'user:write',
      params: inviteParams,
      responses: { 201: { description: 'The organization joined.', schema: acceptedInvite } },
      examples: { response: acceptedInviteExample },
      handler: async ({ caller, params }) =>
        hideMissing(async () => toldTo(await acceptAsUser({ transaction }, params.id, caller))),
    }),
  ];
}

/** @throws AppError `not_found`. */
function requireToken(invite: { token_hash: string }, token: string): void {
  const given = Buffer.from(hashInviteToken(token), 'hex');
  if (!timingSafeEqual(given, Buffer.from(invite.token_hash, 'hex'))) throw new AppError('not_found', 'Not found.');
}
