// Declares the single sign-on routes for administrators, and for users who confirm a sign-in that a provider started.

import { listBlockedAddresses, parseEmailAddress, unblockAddress } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { formatDateTime, offsetPage, offsetPageSchema, offsetQuery, WithHeaders } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { defineRoute } from '../../access/define-route.ts';
import { rejectForeignPage, requireSecureOrigin, setSessionCookies } from '../../access/session-cookie.ts';
import { domainParams } from '../domains/schema.ts';
import { findDomain } from '../domains/store.ts';
import type { SingleSignOnDeps } from './pending.ts';
import { confirmTicket, describeTicket } from './saml-return.ts';
import {
  blockedAddress,
  providerAttempts,
  providerAttemptsExample,
  ticket,
  ticketDescription,
  ticketUse,
  toAttempt,
} from './schema.ts';
import { listAttempts } from './store.ts';

const secretExample = 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk';
const blockedAddressExample = { email: 'ada@example.com', created_at: '2026-11-01T09:00:00Z' };

export function singleSignOnRoutes({ sql, transaction }: Pick<SingleSignOnDeps, 'sql' | 'transaction'>) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/domains/:id/sign_in_tries',
      operationId: 'organizations_domains_sign_in_tries_list',
      summary: 'List sign-in attempts for a domain',
      description:
        "Returns the last 20 sign-in attempts through the domain's provider. Rejected attempts include a reason. " +
        'Tests include the attributes that the provider reported.',
      tags: ['domains'],
      scope: 'organization:read',
      params: domainParams,
      responses: { 200: { description: 'The sign-in attempts.', schema: providerAttempts } },
      examples: { response: providerAttemptsExample },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ target, params }) => {
        const domain = await findDomain(sql, target.organizationId, params.id);
        if (!domain) throw new AppError('not_found', 'Not found.');
        return { results: (await listAttempts(sql, domain.id)).map(toAttempt) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/kept_out',
      operationId: 'organizations_kept_out_list',
      summary: 'List blocked email addresses',
      description:
        'Returns the email addresses of members who were removed with `keep_out`. Users with these addresses ' +
        "cannot automatically join again through one of the organization's domains.",
      tags: ['members'],
      scope: 'organization_member:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: {
        200: { description: 'One page of blocked email addresses.', schema: offsetPageSchema(blockedAddress) },
      },
      examples: { response: { count: 1, next: null, previous: null, results: [blockedAddressExample] } },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ target, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listBlockedAddresses(sql, target.organizationId, window);
          const results = rows.map(({ email, created_at: at }) => ({ email, created_at: formatDateTime(at) }));
          return { count, results };
        }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/organizations/:organization_id/kept_out/:email',
      operationId: 'organizations_kept_out_destroy',
      summary: 'Unblock an email address',
      description:
        'Unblocks the email address. The user joins the organization again at the next sign-in if one of the ' +
        "organization's domains adds users " +
        'automatically.',
      tags: ['members'],
      scope: 'organization_member:write',
      isSensitive: true,
      params: Type.Object({
        ...organizationParams.properties,
        email: Type.String({ minLength: 1, maxLength: 254, description: 'The blocked email address.' }),
      }),
      responses: { 204: { description: 'The email address is no longer blocked.' } },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ caller, target: { organizationId }, params }) => {
        const email = parseEmailAddress(params.email) ?? params.email;
        await transaction(async (tx) => {
          if (!(await unblockAddress(tx, { organizationId, email, actor: caller })))
            throw new AppError('not_found', 'Not found.');
        });
        return undefined;
      },
    }),
  ];
}

/** Creates the routes that let a user confirm a sign-in that started on the provider's own page. */
export function ticketRoutes(deps: SingleSignOnDeps) {
  const shared = { tags: ['sign-in'] as [string], scope: 'public', body: ticket } as const;
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/api/login/sso/look',
      operationId: 'login_sso_look_create',
      summary: 'Show a sign-in that needs confirmation',
      description:
        'Returns the user of a sign-in that was started on the provider’s own page and still needs confirmation. ' +
        'The request does not use up the ticket.',
      responses: { 200: { description: 'The user who would be signed in.', schema: ticketDescription } },
      examples: { request: { ticket: secretExample }, response: { email: 'ada@example.com' } },
      target: ({ request }) => deps.signInLimits.countAnonymousRequest(request.address),
      handler: ({ body }) => describeTicket(deps, body.ticket),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/api/login/sso',
      operationId: 'login_sso_create',
      summary: 'Confirm a sign-in from a provider',
      description:
        'Confirms a sign-in that was started on the provider’s own page, and starts the session. To see the user ' +
        'first, ' +
        'call `POST /api/login/sso/look`.',
      responses: {
        200: { description: 'The user is signed in, or `next` leads to the second factor.', schema: ticketUse },
      },
      examples: { request: { ticket: secretExample }, response: { success: true, next: '/console/' } },
      target: async ({ request }) => {
        rejectForeignPage(request);
        requireSecureOrigin(request);
        await deps.signInLimits.countAnonymousRequest(request.address);
      },
      handler: async ({ body, request }) => {
        const confirmed = () => confirmTicket(deps, { ticket: body.ticket, request });
        const { path, signedIn } = await deps.countSignIn('provider', confirmed, ({ outcome }) => outcome ?? null);
        const signInResult = { success: true, next: path };
        return signedIn === undefined
          ? signInResult
          : new WithHeaders(signInResult, setSessionCookies(request, signedIn));
      },
    }),
  ];
}
