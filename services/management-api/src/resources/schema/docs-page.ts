import { createHash } from 'node:crypto';
import type { Route } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';

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
