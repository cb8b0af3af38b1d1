// The routes of invites: making and removing them, and accepting one.

import {
  changePassword,
  findInvite,
  getOrganization,
  type Installed,
  type InviteSecretKind,
  inviteExpiresAt,
  inviteSecretKind,
  isInviteExpired,
  type Passwords,
  revokeInvite,
  signUpByInvite,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { type ApiRequest, formatDateTime, offsetPage, offsetPageOf, offsetQuery, WithHeaders } from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { hideMissing } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import type { SignUpLimit } from '../../access/rate-limit.ts';
import { refuseForeignPage, requireSessionPlace, type SignedIn, withSession } from '../../access/session-cookie.ts';
import type { AccountMailing } from '../sign-in/account-mailing.ts';
import { refuseEnforced } from '../sign-in/enforcement.ts';
import { checkNewPassword } from '../sign-in/password-rules.ts';
import { begin } from '../sign-in/rules.ts';
import type { InviteMailing, Joined } from './mailing.ts';
import { acceptAsUser, inviteMembers, parseInvites, toJoined } from './rules.ts';
import {
  acceptance,
  acceptedInvite,
  acceptedInviteExample,
  invitation,
  invitationExample,
  invite,
  inviteExample,
  inviteLook,
  madeInvite,
  newInvite,
  signedUp,
  signUp,
  toInvite,
} from './schema.ts';
import { hasAccount, listInvites } from './store.ts';

interface InviteRouteDeps extends Pick<Database, 'sql' | 'transaction'> {
  inviteMailing: InviteMailing;
}

/** Invites of an organization (docs/api/README.md#routes-and-fields). */
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
        'Pending invites, expired ones included, the newest first. Access to projects that are private to others is left out.',
      tags: ['invites'],
      scope: 'organization_member:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of invites.', schema: offsetPageOf(invite) } },
      examples: { response: { count: 1, next: null, previous: null, results: [inviteExample] } },
      target: addressedOrganization(sql),
      handler: async ({ caller, target: { organizationId }, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listInvites(sql, { userId: caller.userId, organizationId }, window);
          const now = new Date();
          return { count, results: rows.map((row) => toInvite(row, now)) };
        }),
    }),
    defineRoute({
      method: 'POST',
      path,
      operationId: 'organizations_invites_create',
      summary: 'Invite a person',
      description:
        'Invites a person by e-mail address; an earlier invite of the same person is replaced. More than level 1 needs a key with all scopes. Who accepts as a new user gets a key that can do no more than the one that invited, and the invite ends when that one does. The mail is sent when the installation has a mail server, and `emailing_attempt_made` tells whether it was tried. Mails count towards what the organization may send in an hour; beyond that the invite is made and not mailed, and the mail goes out when the person is invited again in the next hour. Whoever is signed in also gets the secret of a link to hand over, this once.',
      tags: ['invites'],
      scope: 'organization_member:write',
      isSensitive: true,
      params: organizationParams,
      body: newInvite,
      responses: { 201: { description: 'The invite.', schema: madeInvite } },
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
      isSensitive: true,
      params: organizationParams,
      body: Type.Unknown({ description: 'A list of up to 20 invites, or one invite.' }),
      responses: { 200: { description: 'All were created.', schema: Type.Array(madeInvite), onlyIfPreferred: true } },
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
      isSensitive: true,
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

const secretExample = 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk';
const inviteParams = Type.Object({ id: Type.String({ format: 'uuid', description: 'Id (UUID) of the invite.' }) });

interface AcceptInviteDeps extends InviteRouteDeps {
  signUpLimit: SignUpLimit;
  passwords: Passwords;
  /** Whether people may sign in. */
  withSignIn: boolean;
  installed: Installed;
  accountMailing: AccountMailing;
}

/**
 * Accepting an invite (docs/api/invites.md). Whoever has the secret of the mail may look at the invite and
 * sign up with its address; whoever has an account with that address accepts with a personal API key. To anybody else
 * an invite does not exist.
 */
export function acceptInviteRoutes(deps: AcceptInviteDeps) {
  const { sql, transaction, inviteMailing, signUpLimit, passwords, withSignIn } = deps;
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

  /** Computed for whoever has the secret only. @returns null for who wants a key instead, or a passkey. */
  async function hashOfNewUser(
    invite: { target_email: string; first_name: string },
    body: Static<typeof signUp>,
    request: ApiRequest,
  ): Promise<string | null> {
    if (!wantsSession(body)) return null;
    if (!withSignIn) {
      const attr = body.password === undefined ? 'with_passkey' : 'password';
      const detail = 'Nobody signs in here. Leave the password out, and you get a personal API key.';
      throw new AppError('invalid', detail, { code: 'invalid_input', attr });
    }
    requireSessionPlace(request);
    if (body.password === undefined) return null;
    const { first_name: firstName = invite.first_name, last_name: lastName = '' } = body;
    await checkNewPassword(body.password, [invite.target_email, firstName, lastName]);
    return passwords.hash(body.password);
  }

  return [
    defineRoute({
      method: 'POST',
      path: '/api/signup/:id/look',
      operationId: 'signup_look_create',
      summary: 'Look at an invite',
      description:
        'Returns the invite that a secret belongs to, without accepting it. The secret is in the body because access logs keep query strings.',
      tags: ['invites'],
      scope: 'public',
      params: inviteParams,
      body: inviteLook,
      responses: { 200: { description: 'The invite.', schema: invitation } },
      examples: { request: { token: secretExample }, response: invitationExample },
      target: countRequest,
      handler: async ({ params, body }) => {
        const { invite, secretKind } = await withSecret(params.id, async () => {
          const found = await findInvite(sql, params.id);
          return { invite: found, secretKind: requireToken(found, body.token) };
        });
        const organization = await getOrganization(sql, invite.organization_id);
        return {
          ...invite,
          organization_name: organization.name,
          expires_at: formatDateTime(inviteExpiresAt(invite)),
          is_expired: isInviteExpired(invite, new Date()),
          // Any member can invite any address and is shown a secret: that must not reveal which addresses have accounts.
          has_account: secretKind === 'mailed' ? await hasAccount(sql, invite.email_key) : null,
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/signup/:id',
      operationId: 'signup_create',
      summary: 'Accept an invite as a new user',
      description:
        'Makes an account for the invited address, makes it a member, and gives it a first personal API key, which can do no more than the one that invited. With a `password`, or to register a passkey next, the new user is signed in instead.',
      tags: ['invites'],
      scope: 'public',
      params: inviteParams,
      body: signUp,
      responses: { 201: { description: 'The account, with its key.', schema: signedUp } },
      examples: {
        request: { token: secretExample },
        response: { ...acceptedInviteExample, personal_api_key: 'phx_exampleexampleexampleexampleexampleexamplef3Qz' },
      },
      target: async ({ request }) => {
        await countRequest({ request });
        refuseForeignPage(request);
      },
      handler: async ({ params, body, request }) =>
        withSecret(params.id, async () => {
          const invite = await findInvite(sql, params.id);
          const secretKind = requireToken(invite, body.token);
          // The account is made when its person comes by the provider, with what the invite gives.
          await refuseEnforced(deps, invite.email_key);
          const hash = await hashOfNewUser(invite, body, request);
          let signedIn: SignedIn | null = null;
          const joined = toldTo(
            await transaction(async (tx) => {
              const joined = await signUpByInvite(tx, params.id, {
                now: new Date(),
                firstName: body.first_name,
                lastName: body.last_name,
                // Having got the mail proves the address; having been shown the link does not.
                isEmailVerified: secretKind === 'mailed',
                requireInvited: (invite) => requireToken(invite, body.token),
                withKey: !wantsSession(body),
              });
              if (hash !== null) {
                const actor = { userId: joined.user.id };
                await changePassword(tx, { ...joined.user, password_hash: null }, { hash, actor });
              }
              if (wantsSession(body)) {
                signedIn = await begin(deps, tx, request, { user: joined.user, method: 'invite', secondFactor: null });
              }
              return { ...(await toJoined(tx, joined)), personal_api_key: joined.personalApiKey };
            }),
          );
          return signedIn === null ? joined : new WithHeaders(joined, withSession(request, signedIn));
        }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/invites/:id/accept',
      operationId: 'invites_accept_create',
      summary: 'Accept an invite with your account',
      description:
        'Makes you a member of the organization, if the invite is for your e-mail address. Where nobody has confirmed that address yet, a secret of the invite is needed too: your other sessions end then, and your other keys stay limited to where they work now.',
      tags: ['invites'],
      scope: 'user:write',
      params: inviteParams,
      body: acceptance,
      responses: { 201: { description: 'The organization joined.', schema: acceptedInvite } },
      examples: {
        request: { token: secretExample },
        response: acceptedInviteExample,
      },
      handler: async ({ caller, params, body: { token = '' } }) =>
        hideMissing(async () => toldTo(await acceptAsUser({ transaction }, params.id, { caller, token }))),
    }),
  ];
}

const wantsSession = ({ password, with_passkey: withPasskey }: Static<typeof signUp>) =>
  password !== undefined || withPasskey === true;

/** @throws AppError `not_found` for whoever has none of its secrets. */
function requireToken(invite: { token_hash: string }, token: string): InviteSecretKind {
  const kind = inviteSecretKind(invite, token);
  if (kind === null) throw new AppError('not_found', 'Not found.');
  return kind;
}
