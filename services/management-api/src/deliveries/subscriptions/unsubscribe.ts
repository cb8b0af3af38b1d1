// Declares the routes for unsubscribe links in emails. With such a link, recipients remove their own email address from
// a subscription.

import type { Database, Sql } from '@millrace/db';
import { TextContent } from '@millrace/http';
import { escapeHtml } from '@millrace/reports';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { defineRoute } from '../../access/define-route.ts';
import { unsubscribe } from './rules.ts';
import { findUnsubscribable, type Unsubscribable } from './store.ts';

/** The number of days for which an unsubscribe link works. */
const linkDays = 30;

const params = Type.Object({
  unsubscribe_id: Type.String({
    format: 'uuid',
    description: 'ID from the unsubscribe link in an email. Only the recipient knows this ID.',
  }),
});
const state = Type.Object(
  {
    title: Type.String({ description: 'Title of the reports.' }),
    email: Type.String({ description: 'Email address of the recipient.' }),
    is_subscribed: Type.Boolean({ description: 'Whether reports are sent to the email address.' }),
  },
  { title: 'MailSubscription' },
);
const example = { title: 'Orders', email: 'ada@example.com', is_subscribed: true };
const page = { mediaType: 'text/html; charset=utf-8', example: '<!doctype html>…' };

/** Headers for the unsubscribe page. It loads nothing, runs no scripts, and can submit its form only to Millrace. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/**
 * Declares the unsubscribe routes. GET requests change nothing, because mail scanners open every link. Email programs
 * send the POST request when the user clicks the program's unsubscribe button (RFC 8058).
 */
export function unsubscribeRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const common = {
    path: '/api/unsubscribe/:unsubscribe_id',
    tags: ['subscriptions'] as [string],
    scope: 'public',
    params,
    responses: { 200: { description: 'Whether reports are sent to the email address.', schema: state, text: page } },
  } as const;
  return [
    defineRoute({
      ...common,
      method: 'GET',
      operationId: 'unsubscribe_retrieve',
      summary: 'Show the subscription that an email belongs to',
      description: `Returns the subscription that an email belongs to. The link in the email works for ${linkDays} days.`,
      examples: { response: example },
      handler: async ({ params: { unsubscribe_id: id }, request }) =>
        createPage(await requireMail(sql, id), request.header('accept')),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      operationId: 'unsubscribe_create',
      summary: 'Unsubscribe from reports',
      description:
        'Removes the email address from the subscription. If no other address remains, the subscription ends. ' +
        'Other recipients are not affected. Repeating the ' +
        'request has no effect.',
      examples: { response: { ...example, is_subscribed: false } },
      handler: async ({ params: { unsubscribe_id: id }, request }) => {
        const found = await requireMail(sql, id);
        await transaction((tx) => unsubscribe(tx, found));
        return createPage(await requireMail(sql, id), request.header('accept'));
      },
    }),
  ];
}

/** Finds what an unsubscribe link refers to. @throws AppError `not_found` if the link is invalid or too old */
async function requireMail(sql: Sql, id: string): Promise<Unsubscribable> {
  const found = await findUnsubscribable(sql, id, linkDays);
  if (!found)
    throw new AppError(
      'not_found',
      `This link is invalid or older than ${linkDays} days. Use the link in a newer email.`,
    );
  return found;
}

function createPage({ name: title, email, isSubscribed }: Unsubscribable, accept = '') {
  if (!accept.includes('text/html')) return { title, email, is_subscribed: isSubscribed };
  return new TextContent(pageOf({ title, email, isSubscribed }), pageHeaders);
}

function pageOf({ title, email, isSubscribed }: { title: string; email: string; isSubscribed: boolean }): string {
  const heading = isSubscribed ? `Unsubscribe from “${title}”?` : `Unsubscribed from “${title}”`;
  const sentence = isSubscribed
    ? `Reports will no longer be sent to ${email}. Other recipients are not affected.`
    : `Reports are no longer sent to ${email}.`;
  const button = isSubscribed ? '<form method="post"><button type="submit">Unsubscribe</button></form>' : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(heading)}</title>
<style>
body{max-width:34rem;margin:15vh auto 0;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;line-height:1.3;overflow-wrap:anywhere}
p{overflow-wrap:anywhere}
button{padding:.6rem 1.2rem;font:inherit;font-weight:600;color:#fff;background:#0a6c8c;border:0;border-radius:6px;cursor:pointer}
</style></head>
<body><main><h1>${escapeHtml(heading)}</h1><p>${escapeHtml(sentence)}</p>${button}</main></body></html>
`;
}
