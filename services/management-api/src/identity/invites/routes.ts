// Declares the routes for creating, withdrawing and accepting invites.

import {
  changePassword,
  findInvite,
  findInviteSecretKind,
  getInviteExpiry,
  getOrganization,
  type InstalledProviders,
  type InviteSecretKind,
  isInviteExpired,
  type Passwords,
  revokeInvite,
  signUpByInvite,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import {
  type ApiRequest,
  formatDateTime,
  offsetPage,
  offsetPageSchema,
  offsetQuery,
  WithHeaders,
} from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { maskNotFound } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import type { SignUpLimit } from '../../access/rate-limit.ts';
import {
  rejectForeignPage,
  requireSecureOrigin,
  type SignedIn,
  setSessionCookies,
} from '../../access/session-cookie.ts';
import type { AccountMailing } from '../sign-in/account-mailing.ts';
import { rejectEnforced } from '../sign-in/enforcement.ts';
import { checkNewPassword } from '../sign-in/password-rules.ts';
import { startSession } from '../sign-in/rules.ts';
import type { InviteMailing, Joined } from './mailing.ts';
import { acceptInviteAsUser, inviteMembers, parseInvites, toJoinedUser } from './rules.ts';
import {
  acceptance,
  acceptedInvite,
  acceptedInviteExample,
  createdInvite,
  invitation,
  invitationExample,
  invite,
  inviteExample,
  inviteLookup,
  newInvite,
  signedUp,
  signUp,
  toInvite,
} from './schema.ts';
import { hasAccount, listInvites } from './store.ts';

interface InviteRouteDeps extends Pick<Database, 'sql' | 'transaction'> {
  inviteMailing: InviteMailing;
}

export function inviteRoutes(deps: InviteRouteDeps) {
  const { sql, transaction } = deps;
  const path = '/api/organizations/:organization_id/invites';
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'organizations_invites_list',
      summary: "List an organization's invites",
      description:
        'Returns the pending invites, including expired ones, newest first. `private_project_access` leaves out projects that the ' +
        'caller cannot access.',
      tags: ['invites'],
      scope: 'organization_member:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of invites.', schema: offsetPageSchema(invite) } },
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
        'Invites a person by email address. An earlier invite for the same person is replaced. Inviting with a level above 1 requires a ' +
        'key with all scopes. A person who accepts as a new user receives a personal API key. This key has no more permissions than the ' +
        'key that sent the invite, and the invite expires no later than that key. The invite is emailed if the installation has a mail ' +
        'server; ' +
        "`emailing_attempt_made` is true if Millrace tried to send the email. Emails count toward the organization's hourly " +
        'email limit. Beyond this limit, the invite is created but not emailed; to send the email, invite the person again in the next ' +
        'hour. If you are signed in with a session, the response also contains the secret of an invite link that you can pass on ' +
        'yourself. It is returned only once.',
      tags: ['invites'],
      scope: 'organization_member:write',
      isSensitive: true,
      params: organizationParams,
      body: newInvite,
      responses: { 201: { description: 'The new invite.', schema: createdInvite } },
      examples: { request: { target_email: 'grace@example.com', first_name: 'Grace' }, response: inviteExample },
      target: addressedOrganization(sql),
      handler: async ({ caller, target, body }) => {
        const [created] = await inviteMembers(deps, { caller, membership: target, invites: [body], isBulk: false });
        if (!created) throw new Error('The invite could not be read after it was created.');
        return created;
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/bulk`,
      operationId: 'organizations_invites_bulk_create',
      summary: 'Invite several people',
      description:
        'Accepts a list of up to 20 invites, or a single invite. Either all invites are created, or none. Errors name the invite and ' +
        'the field as `<index>__<field>`. As with a single invite, `emailing_attempt_made` is true if Millrace tried to send ' +
        'the email.',
      tags: ['invites'],
      scope: 'organization_member:write',
      isSensitive: true,
      params: organizationParams,
      body: Type.Unknown({ description: 'A list of up to 20 invites, or a single invite.' }),
      responses: { 200: { description: 'The new invites.', schema: Type.Array(createdInvite), onlyIfPreferred: true } },
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
      summary: 'Revoke an invite',
      description: 'Deletes the invite, which can then no longer be accepted.',
      tags: ['invites'],
      scope: 'organization_member:write',
      isSensitive: true,
      params: Type.Object({
        ...organizationParams.properties,
        id: Type.String({ format: 'uuid', description: 'ID (UUID) of the invite.' }),
      }),
      responses: { 204: { description: 'The invite was revoked.' } },
      target: addressedOrganization(sql),
      handler: async ({ caller, target: { organizationId }, params }) => {
        const invite = { inviteId: params.id, organizationId, actor: caller };
        await maskNotFound(() => transaction((tx) => revokeInvite(tx, invite)));
        return undefined;
      },
    }),
  ];
}

const secretExample = 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk';
const inviteParams = Type.Object({ id: Type.String({ format: 'uuid', description: 'ID (UUID) of the invite.' }) });

interface AcceptInviteDeps extends InviteRouteDeps {
  signUpLimit: SignUpLimit;
  passwords: Passwords;
  withSignIn: boolean;
  installedProviders: InstalledProviders;
  accountMailing: AccountMailing;
}

/**
 * Creates the routes that accept an invite (docs/api/invites.md). With the emailed secret, a client can read the invite
 * and sign up with the invited email address. If an account with this email address exists, its user accepts the invite
 * with a personal API key. All other requests get 404.
 */
export function acceptInviteRoutes(deps: AcceptInviteDeps) {
  const { sql, transaction, inviteMailing, signUpLimit, passwords, withSignIn } = deps;
  const countRequest = ({ request }: { request: ApiRequest }) => signUpLimit.countRequest(request.address);
  /**
   * Runs `work` if the request contains the invite's secret, and returns 404 otherwise. Limits the number of attempts.
   */
  const withSecret = <T>(id: string, work: () => Promise<T>): Promise<T> =>
    maskNotFound(async () => {
      try {
        return await work();
      } catch (error) {
        if (isAppError(error, 'not_found')) await signUpLimit.countWrong(id);
        throw error;
      }
    });
  /** Emails administrators about a new member. Must be called after the transaction commits. */
  const notifyOfJoin = <T extends Joined>(joined: T): T => {
    inviteMailing.notifyJoined(joined);
    return joined;
  };

  /**
   * Hashes a new user's password. Called only for requests with the invite's secret.
   * @returns null if the request asks for a key or a passkey, and therefore has no password
   */
  async function hashOfNewUser(
    invite: { target_email: string; first_name: string },
    body: Static<typeof signUp>,
    request: ApiRequest,
  ): Promise<string | null> {
    if (!wantsSession(body)) return null;
    if (!withSignIn) {
      const attr = body.password === undefined ? 'with_passkey' : 'password';
      const detail =
        'Sign-in is turned off in this installation. Leave out `password` and `with_passkey` to receive a personal API key instead.';
      throw new AppError('invalid', detail, { code: 'invalid_input', attr });
    }
    requireSecureOrigin(request);
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
      summary: 'Show an invite',
      description:
        'Returns the invite that the secret belongs to, without accepting it. Send the secret in the body, because access logs contain ' +
        'query strings.',
      tags: ['invites'],
      scope: 'public',
      params: inviteParams,
      body: inviteLookup,
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
          expires_at: formatDateTime(getInviteExpiry(invite)),
          is_expired: isInviteExpired(invite, new Date()),
          // Any member can invite any email address, and the response contains a secret. A request with that secret
          // must not reveal whether the address has an account.
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
        'Creates an account for the invited email address, makes it a member of the organization, and returns a personal API key. This ' +
        'key has no more permissions than the key that sent the invite. With `password` or `with_passkey`, the new user is signed in ' +
        'instead and ' +
        'does not receive a key.',
      tags: ['invites'],
      scope: 'public',
      params: inviteParams,
      body: signUp,
      responses: {
        201: {
          description: 'The new account, with its personal API key unless the user was signed in.',
          schema: signedUp,
        },
      },
      examples: {
        request: { token: secretExample },
        response: { ...acceptedInviteExample, personal_api_key: 'phx_exampleexampleexampleexampleexampleexamplef3Qz' },
      },
      target: async ({ request }) => {
        await countRequest({ request });
        rejectForeignPage(request);
      },
      handler: async ({ params, body, request }) =>
        withSecret(params.id, async () => {
          const invite = await findInvite(sql, params.id);
          const secretKind = requireToken(invite, body.token);
          // If the domain enforces a provider, the account is created when the user first signs in through the
          // provider, with the level and access that the invite grants.
          await rejectEnforced(deps, invite.email_key);
          const hash = await hashOfNewUser(invite, body, request);
          let signedIn: SignedIn | null = null;
          const joined = notifyOfJoin(
            await transaction(async (tx) => {
              const joined = await signUpByInvite(tx, params.id, {
                now: new Date(),
                firstName: body.first_name,
                lastName: body.last_name,
                // Only the emailed secret proves that the user can read emails to this address.
                isEmailVerified: secretKind === 'mailed',
                requireInvited: (invite) => requireToken(invite, body.token),
                withKey: !wantsSession(body),
              });
              if (hash !== null) {
                const actor = { userId: joined.user.id };
                await changePassword(tx, { ...joined.user, password_hash: null }, { hash, actor });
              }
              if (wantsSession(body)) {
                signedIn = await startSession(deps, tx, request, {
                  user: joined.user,
                  method: 'invite',
                  secondFactor: null,
                });
              }
              return { ...(await toJoinedUser(tx, joined)), personal_api_key: joined.personalApiKey };
            }),
          );
          return signedIn === null ? joined : new WithHeaders(joined, setSessionCookies(request, signedIn));
        }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/invites/:id/accept',
      operationId: 'invites_accept_create',
      summary: 'Accept an invite with an existing account',
      description:
        'Makes you a member of the organization if the invite is for your email address. If your email address has not been confirmed ' +
        'yet, you must also send a secret of the invite. In that case, your other sessions end, and your other keys remain limited to ' +
        'the organizations and projects that they can access now.',
      tags: ['invites'],
      scope: 'user:write',
      params: inviteParams,
      body: acceptance,
      responses: { 201: { description: 'The organization that you joined.', schema: acceptedInvite } },
      examples: {
        request: { token: secretExample },
        response: acceptedInviteExample,
      },
      handler: async ({ caller, params, body: { token = '' } }) =>
        maskNotFound(async () => notifyOfJoin(await acceptInviteAsUser({ transaction }, params.id, { caller, token }))),
    }),
  ];
}

const wantsSession = ({ password, with_passkey: withPasskey }: Static<typeof signUp>) =>
  password !== undefined || withPasskey === true;

/**
 * Returns which one of an invite's secrets the token matches.
 * @throws AppError `not_found` if the token matches neither secret
 */
function requireToken(invite: { token_hash: string }, token: string): InviteSecretKind {
  const kind = findInviteSecretKind(invite, token);
  if (kind === null) throw new AppError('not_found', 'Not found.');
  return kind;
}
