// Serves the pages that a browser visits during a sign-in through a provider. They only redirect and never show an
// error, because the sign-in page explains errors.

import type { ServerResponse } from 'node:http';
import type { ApiRequest, PageContext, PageRoute } from '@millrace/http';
import { type AppError, isAppError, type Logger } from '@millrace/runtime';
import { setSessionCookies, setStepCookie } from '../../access/session-cookie.ts';
import { samlMetadata } from '../saml/messages.ts';
import { startProviderSignIn } from './begin.ts';
import { finishOpenId } from './openid-return.ts';
import type { NextPage, SingleSignOnDeps } from './pending.ts';
import { finishSaml, receiveSaml } from './saml-return.ts';

interface PageDeps extends SingleSignOnDeps {
  logger: Logger;
}

/** Maximum size of an encoded SAML response, in bytes. */
const bodyLimitBytes = 400 * 1024;

export function createSignOnPages(deps: PageDeps): PageRoute[] {
  const { logger } = deps;

  const page = (
    path: string,
    method: 'GET' | 'POST',
    work: (context: PageContext) => Promise<Redirect>,
  ): PageRoute => ({
    path,
    methods: [method],
    bodyLimitBytes,
    async serve(context) {
      const { request, response } = context;
      setPrivacyHeaders(response);
      const {
        status,
        location,
        cookies = {},
      } = await work(context).catch(
        (error: unknown): Redirect => ({ status: 303, location: request.baseUrl + errorPath(request, error, logger) }),
      );
      response.writeHead(status, { location, ...cookies }).end();
    },
  });
  const arrival = (
    path: string,
    method: 'GET' | 'POST',
    work: (context: PageContext) => Promise<NextPage>,
  ): PageRoute =>
    page(path, method, async (context) =>
      follow(
        context.request,
        await deps.countSignIn(
          'provider',
          () => work(context),
          ({ outcome }) => outcome ?? null,
        ),
      ),
    );
  const openIdReturn = ({ request, params }: PageContext) =>
    finishOpenId(deps, { provider: params.provider ?? '', domainId: params.domain_id ?? null, request });

  return [
    page('/login/:provider', 'GET', async ({ request, params }) => {
      const { url, browserSecret } = await startProviderSignIn(deps, { provider: params.provider ?? '', request });
      return { status: 302, location: url, cookies: setStepCookie(request, browserSecret) };
    }),
    arrival('/complete/:provider', 'GET', openIdReturn),
    arrival('/complete/:provider/:domain_id', 'GET', openIdReturn),
    arrival('/complete/saml', 'POST', async ({ request }) => {
      const form = (await request.body()) as Record<string, unknown>;
      const text = (value: unknown) => (typeof value === 'string' ? value : '');
      return receiveSaml(deps, { samlResponse: text(form.SAMLResponse), relayState: text(form.RelayState), request });
    }),
    arrival('/complete/saml', 'GET', ({ request }) =>
      finishSaml(deps, { ticket: request.query.get('ticket') ?? '', request }),
    ),
    { path: '/api/saml/metadata', methods: ['GET'], serve: sendMetadata },
  ];
}

interface Redirect {
  status: 302 | 303;
  location: string;
  cookies?: Record<string, string[]> | undefined;
}

function setPrivacyHeaders(response: ServerResponse): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Referrer-Policy', 'no-referrer');
}

function sendMetadata({ request: { publicUrl }, response }: PageContext): void {
  setPrivacyHeaders(response);
  if (publicUrl === null) {
    response
      .writeHead(503, { 'content-type': 'text/plain; charset=utf-8' })
      .end('Single sign-on is not available, because PUBLIC_API_URL is not set.\n');
    return;
  }
  response.setHeader('Content-Type', 'text/xml; charset=utf-8');
  response.end(samlMetadata({ entityId: publicUrl, acsUrl: `${publicUrl}/complete/saml/` }));
}

function follow(request: ApiRequest, { path, signedIn, step }: NextPage): Redirect {
  const location = request.baseUrl + path;
  if (signedIn) return { status: 303, location, cookies: setSessionCookies(request, signedIn) };
  return { status: 303, location, cookies: step === undefined ? undefined : setStepCookie(request, step) };
}

/**
 * Returns the path of the page that explains an error. The path must not contain the request's contents. It contains
 * only a code that the sign-in page can explain, and an ID for finding the details in the log.
 */
function errorPath(request: ApiRequest, error: unknown, logger: Logger): string {
  const known: AppError | null = isAppError(error) ? error : null;
  const code = known?.code ?? 'social_login_failure';
  const level = known === null ? 'error' : known.kind === 'unavailable' ? 'warn' : 'info';
  const { next, ...details } = known?.details ?? {};
  logger.log(level, 'sign-in through a provider failed', {
    requestId: request.id,
    code,
    path: request.path,
    ...details,
    ...(known === null ? { error } : { detail: known.message }),
  });
  if (code === 'sso_test_failed') return String(next);
  return `/console/sign-in?${new URLSearchParams({ error_code: code, error_id: request.id })}`;
}
