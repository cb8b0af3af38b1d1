// The addresses a browser walks through when somebody signs in by a provider. They answer with the next address, never with
// an error to read: what went wrong is told by the sign-in page.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiRequest, toPageRequest } from '@millrace/http';
import { type AppError, isAppError, type Logger } from '@millrace/runtime';
import { withSession, withStep } from '../../access/session-cookie.ts';
import { samlMetadata } from '../saml/messages.ts';
import { beginAtProvider, finishOpenId, type Leads, type SingleSignOnDeps } from './flow.ts';
import { finishSaml, receiveSaml } from './saml-return.ts';

interface PageDeps extends SingleSignOnDeps {
  logger: Logger;
  publicUrl?: string | undefined;
  trustedProxies: number;
}

/** A SAML answer is at most so large, with its encoding. */
const bodyLimitBytes = 400 * 1024;
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const paths = {
  begin: /^\/login\/([\w-]{1,40})\/?$/,
  saml: /^\/complete\/saml\/?$/,
  openId: new RegExp(`^/complete/([\\w-]{1,40})(?:/(${uuid}))?/?$`),
  metadata: /^\/api\/saml\/metadata\/?$/,
};

/** Whether a request is for one of these pages. */
export function isSignOnPage(url: string): boolean {
  const path = url.split('?', 1)[0] ?? '';
  return Object.values(paths).some((pattern) => pattern.test(path));
}

/** @returns what answers them. */
export function createSignOnPages(deps: PageDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const { publicUrl, trustedProxies, logger } = deps;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = toPageRequest(incoming, response, { publicUrl, trustedProxies, bodyLimitBytes });
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Referrer-Policy', 'no-referrer');
    const { method = '' } = incoming;
    const isPost = method === 'POST' && paths.saml.test(request.path);
    if (!isPost && method !== 'GET') {
      response.writeHead(405, { allow: paths.saml.test(request.path) ? 'GET, POST' : 'GET' }).end();
      return;
    }
    if (paths.metadata.test(request.path)) return sendMetadata(request, response);
    try {
      const begun = paths.begin.exec(request.path);
      if (begun) {
        const { url, browserSecret } = await beginAtProvider(deps, { provider: begun[1] ?? '', request });
        return redirect(response, 302, { location: url, cookies: withStep(request, browserSecret) });
      }
      const back = () => (isPost ? received(request) : finished(request));
      follow(response, request, await deps.countSignIn('provider', back, ({ outcome }) => outcome ?? null));
    } catch (error) {
      redirect(response, 303, { location: request.baseUrl + whereErrorsAreTold(request, error, logger) });
    }
  }

  async function received(request: ApiRequest): Promise<Leads> {
    const form = (await request.body()) as Record<string, unknown>;
    const text = (value: unknown) => (typeof value === 'string' ? value : '');
    return receiveSaml(deps, { samlResponse: text(form.SAMLResponse), relayState: text(form.RelayState), request });
  }

  async function finished(request: ApiRequest): Promise<Leads> {
    if (paths.saml.test(request.path)) {
      return finishSaml(deps, { ticket: request.query.get('ticket') ?? '', request });
    }
    const [, provider = '', domainId = null] = paths.openId.exec(request.path) ?? [];
    return finishOpenId(deps, { provider, domainId, request });
  }

  return (incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      logger.error('could not send the response of a single sign-on page', { error });
      response.destroy();
    });
  };
}

function sendMetadata({ publicUrl }: ApiRequest, response: ServerResponse): void {
  if (publicUrl === null) {
    response
      .writeHead(503, { 'content-type': 'text/plain; charset=utf-8' })
      .end('Single sign-on is not available, because PUBLIC_API_URL is not set.\n');
    return;
  }
  response.setHeader('Content-Type', 'text/xml; charset=utf-8');
  response.end(samlMetadata({ entityId: publicUrl, acsUrl: `${publicUrl}/complete/saml/` }));
}

function follow(response: ServerResponse, request: ApiRequest, leads: Leads): void {
  const cookies = leads.signedIn
    ? withSession(request, leads.signedIn)
    : leads.step !== undefined
      ? withStep(request, leads.step)
      : undefined;
  redirect(response, 303, { location: request.baseUrl + leads.path, cookies });
}

function redirect(
  response: ServerResponse,
  status: 302 | 303,
  { location, cookies = {} }: { location: string; cookies?: Record<string, string[]> | undefined },
): void {
  response.writeHead(status, { location, ...cookies }).end();
}

/**
 * Nothing that came with the request is shown: only a code that the sign-in page has a sentence for, and an id by which an
 * administrator finds the rest in the log.
 */
function whereErrorsAreTold(request: ApiRequest, error: unknown, logger: Logger): string {
  const known: AppError | null = isAppError(error) ? error : null;
  const code = known?.code ?? 'social_login_failure';
  const level = known === null ? 'error' : known.kind === 'unavailable' ? 'warn' : 'info';
  const { next, ...details } = known?.details ?? {};
  logger.log(level, 'sign-in through a provider failed', {
    ...{ requestId: request.id, code, path: request.path, ...details },
    ...(known === null ? { error } : { detail: known.message }),
  });
  if (code === 'sso_test_failed') return String(next);
  return `/console/sign-in?${new URLSearchParams({ error_code: code, error_id: request.id })}`;
}
