// What the API says of itself: OpenAPI for programs, a page for people.

import { createHash } from 'node:crypto';
import { freeFormObject, openApiDocument, type Route } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';

const description = {
  title: 'Millrace management API',
  version: '0.1.0',
  description:
    'Organizations, projects and what was stored for them. Every request carries `Authorization: Bearer <personal API key>`, or the cookie of a session; every path works with and without its trailing slash. A query parameter that is not listed is refused with 400 by its name, except `format=json`. A page of a list is shorter than its `limit` only at the end of the list.',
  contact: { name: 'Millrace' },
  sessionCookie: '__Host-millrace_session',
  tags: {
    'access rules': 'Who sees and changes which records of a project.',
    batch_exports: 'What is copied to an object storage or a database at regular times.',
    cohorts: 'Sets of persons, by filters or listed one by one.',
    definitions: 'The names of events and properties that were stored.',
    domains: 'Verified domains of an organization.',
    annotations: 'Notes about points in time, such as a release.',
    'early access features': 'Features that persons can enrol in.',
    environments: 'The environments of a project, with their settings and keys.',
    events: 'The events of a project.',
    feature_flags: 'Flags, who gets them, and what became of them.',
    groups: 'The groups that events belong to.',
    insights: 'Stored questions.',
    'ingestion warnings': 'What was wrong with events that were sent.',
    dashboards: 'Insights and texts, laid out on a page.',
    'dead letters': 'Events that could not be stored, to be sent again or given up.',
    'live events': 'What is stored or dropped, as it happens.',
    invites: 'Invitations to an organization.',
    members: 'Who belongs to an organization.',
    organizations: 'Organizations.',
    'personal API keys': 'The keys with which this API is asked.',
    persons: 'The persons of a project.',
    roles: 'Groups of members, whom rules of access name together.',
    query: 'Questions about events: insights, and who is behind a number.',
    projects: 'Projects, with the settings and keys of their first environment.',
    schema: 'This document.',
    'sign-in': 'Signing in and out, and the sessions of the caller.',
    subscriptions: 'Reports that are sent at regular times.',
    users: 'The account of the caller.',
  },
};

/** Serves the OpenAPI document of the other routes and of itself. */
export function schemaRoutes(others: readonly Route<Caller>[]): Route<Caller>[] {
  const route: Route<Caller> = defineRoute({
    method: 'GET',
    path: '/api/schema',
    operationId: 'schema_retrieve',
    summary: 'Read this document',
    description: 'The OpenAPI 3.1 document of the management API.',
    tags: ['schema'],
    scope: 'public',
    responses: {
      200: {
        description: 'The document.',
        schema: freeFormObject({ description: 'An OpenAPI 3.1 document.' }),
      },
    },
    examples: { response: { openapi: '3.1.0' } },
    handler: async () => document,
  });
  const document: Record<string, unknown> = openApiDocument([...others, route], description);
  return [route];
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#f4f4f5;padding:.75rem;overflow:auto}
summary{cursor:pointer;padding:.35rem 0}b.method{display:inline-block;min-width:4.5rem}table{border-collapse:collapse}
td,th{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0}section{margin-top:2rem}a{color:#0b57d0}`;

/** For the page of documentation: nothing but its own style is loaded or run. */
export const docsContentSecurityPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The routes as a page for people, whole in one answer: no script, nothing from elsewhere. */
export function docsPage(routes: readonly Route<Caller>[]): string {
  const tags = [...new Set(routes.flatMap((route) => route.tags))].sort();
  const sections = tags.map((tag) => {
    const operations = routes.filter((route) => route.tags.includes(tag)).map(describeOperation);
    return `<section id="${asText(tag)}"><h2>${asText(tag)}</h2>${operations.join('')}</section>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Millrace management API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body><h1>Millrace management API</h1>
<p>Every request carries <code>Authorization: Bearer &lt;personal API key&gt;</code>. For programs: <a href="/api/schema/">OpenAPI 3.1</a>.</p>
<nav>${tags.map((tag) => `<a href="#${asText(tag)}">${asText(tag)}</a>`).join(' · ')}</nav>${sections.join('')}</body></html>`;
}

function describeOperation(route: Route<Caller>): string {
  const { method, path, summary, description, scope, level, examples, responses } = route;
  const needs = [scope === 'public' ? 'no key' : `scope ${scope}`, ...(level === undefined ? [] : [`level ${level}`])];
  const answers = Object.entries(responses).map(
    ([status, answer]) => `<tr><td>${status}</td><td>${asText(answer?.description ?? '')}</td></tr>`,
  );
  return `<details id="${route.operationId}"><summary><b class="method">${method}</b> <code>${asText(path.replaceAll(/:(\w+)/g, '{$1}'))}/</code> ${asText(summary)}</summary>
<p>${asText(description)}</p><p>Needs: ${asText(needs.join(', '))}</p>${describeFields('Parameters', route.query)}${route.body ? describeFields('Body', route.body) : ''}
<table>${answers.join('')}</table>${describeExample('Request', examples.request)}${describeExample('Answer', examples.response)}</details>`;
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
