// Serves the API documentation as an OpenAPI document and as an HTML page.

import { createHash } from 'node:crypto';
import { createOpenApiDocument, freeFormObject, type PageRoute, type Route } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';

const description = {
  title: 'Millrace management API',
  version: '0.1.0',
  description:
    'API for organizations, projects and the data that Millrace stores for them. Every request needs either the ' +
    'header `Authorization: Bearer <personal API key>` or the cookie of a session. Every path works with and without its ' +
    'trailing slash. A request with a query parameter that is not listed here is rejected with 400, and the error ' +
    "contains the parameter's name. The only " +
    'exception is `format=json`. Only the last page of a list can have fewer items than `limit`, unless a search for ' +
    'events ran out of time.',
  contact: { name: 'Millrace' },
  sessionCookie: '__Host-millrace_session',
  tags: {
    'access rules': 'Rules that control access to the records in a project.',
    batch_exports: 'Scheduled exports of events to object storage or a database.',
    cohorts: 'Groups of persons, defined by conditions or as a fixed list.',
    definitions: 'Event and property definitions.',
    domains: 'Verified domains of an organization.',
    annotations: 'Notes that mark points in time, such as releases.',
    'early access features': 'Features that users of your application can opt in to.',
    environments: 'Environments of a project, with their settings and keys.',
    events: 'Events of a project.',
    feature_flags: 'Feature flags, their release conditions and their usage.',
    groups: 'Groups that events belong to, such as companies.',
    insights: 'Saved queries.',
    'insight variables': 'Variables of SQL queries.',
    'ingestion warnings': 'Problems with events that were sent to the project.',
    dashboards: 'Pages of insights and text.',
    sharing: 'Public links of insights and dashboards.',
    'dead letters': 'Events that could not be stored, and that you can replay or discard.',
    'live events': 'A stream of stored and dropped events in real time.',
    invites: 'Invites to an organization.',
    members: 'Members of an organization.',
    organizations: 'Organizations.',
    'personal API keys': 'Keys for requests to this API.',
    persons: 'Persons in a project.',
    roles: 'Named groups of members. Access rules can refer to roles.',
    query: 'Queries for insights, and for lists of events, persons or groups.',
    projects: 'Projects, with the settings and keys of their first environment.',
    schema: 'This OpenAPI document.',
    'sign-in': "Signing in and out, second factors, passkeys, and the caller's sessions.",
    subscriptions: 'Scheduled reports.',
    users: "The caller's account.",
  },
};

/**
 * Creates the route that serves the OpenAPI document, which also describes this route. The document is created at the
 * first request, because that takes a tenth of a second.
 */
export function schemaRoutes(others: readonly Route<Caller>[]): Route<Caller>[] {
  const route: Route<Caller> = defineRoute({
    method: 'GET',
    path: '/api/schema',
    operationId: 'schema_retrieve',
    summary: 'Get the OpenAPI document',
    description: 'Returns the OpenAPI 3.1 document of the management API.',
    tags: ['schema'],
    scope: 'public',
    responses: {
      200: {
        description: 'The OpenAPI document.',
        schema: freeFormObject({ description: 'An OpenAPI 3.1 document.' }),
      },
    },
    examples: { response: { openapi: '3.1.0' } },
    handler: async () => {
      document ??= createOpenApiDocument([...others, route], description);
      return document;
    },
  });
  let document: Record<string, unknown> | undefined;
  return [route];
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#f4f4f5;padding:.75rem;overflow:auto}
summary{cursor:pointer;padding:.35rem 0}b.method{display:inline-block;min-width:4.5rem}table{border-collapse:collapse}
td,th{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0}section{margin-top:2rem}a{color:#0b57d0}`;

/** Allows only the documentation page's own style sheet, and no scripts. */
const docsContentSecurityPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function createDocsPage(routes: readonly Route<Caller>[]): PageRoute {
  let html: Buffer | undefined;
  return {
    path: docsPath,
    methods: ['GET', 'HEAD'],
    serve({ response }) {
      html ??= Buffer.from(describeRoutes(routes));
      response.setHeader('Content-Security-Policy', docsContentSecurityPolicy);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.setHeader('Content-Length', html.length);
      response.end(html);
    },
  };
}

export const docsPath = '/api/docs';

/** Returns an HTML page that describes the routes, without scripts or external resources. */
function describeRoutes(routes: readonly Route<Caller>[]): string {
  const tags = [...new Set(routes.flatMap((route) => route.tags))].sort();
  const sections = tags.map((tag) => {
    const operations = routes.filter((route) => route.tags.includes(tag)).map(describeOperation);
    return `<section id="${asText(tag)}"><h2>${asText(tag)}</h2>${operations.join('')}</section>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Millrace management API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body><h1>Millrace management API</h1>
<p>Every request needs the header <code>Authorization: Bearer &lt;personal API key&gt;</code>. This reference is also available as an <a href="/api/schema/">OpenAPI 3.1 document</a>.</p>
<nav>${tags.map((tag) => `<a href="#${asText(tag)}">${asText(tag)}</a>`).join(' · ')}</nav>${sections.join('')}</body></html>`;
}

function describeOperation(route: Route<Caller>): string {
  const { method, path, summary, description, scope, level, examples, responses } = route;
  const needs = [
    scope === 'public' ? 'no authentication' : `scope ${scope}`,
    ...(level === undefined ? [] : [`level ${level}`]),
  ];
  const responseRows = Object.entries(responses).map(
    ([status, response]) => `<tr><td>${status}</td><td>${asText(response?.description ?? '')}</td></tr>`,
  );
  return `<details id="${route.operationId}"><summary><b class="method">${method}</b> <code>${asText(path.replaceAll(/:(\w+)/g, '{$1}'))}/</code> ${asText(summary)}</summary>
<p>${asText(description)}</p><p>Requires: ${asText(needs.join(', '))}</p>${describeFields('Parameters', route.query)}${route.body ? describeFields('Body', route.body) : ''}
<table>${responseRows.join('')}</table>${describeExample('Example request', examples.request)}${describeExample('Example response', examples.response)}</details>`;
}

function describeFields(title: string, schema: object): string {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, object>; required?: string[] };
  const rows = Object.entries(properties).map(([name, field]) => {
    const { description = '', default: preset } = field as { description?: string; default?: unknown };
    const isNeeded = required.includes(name) && preset === undefined;
    return `<tr><td><code>${asText(name)}</code>${isNeeded ? ' (required)' : ''}</td><td>${asText(description)}</td></tr>`;
  });
  return rows.length === 0 ? '' : `<h4>${title}</h4><table>${rows.join('')}</table>`;
}

function describeExample(title: string, example: unknown): string {
  return example === undefined ? '' : `<h4>${title}</h4><pre>${asText(JSON.stringify(example, null, 2))}</pre>`;
}

function asText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
