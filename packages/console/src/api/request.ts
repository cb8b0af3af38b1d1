/**
 * Where the console lies, with a slash at its end: `/console/`, or `/analytics/console/` behind a proxy that shows the API below a
 * path. Read off this file's own address, which is `<console>/assets/…`.
 */
const ownAddress = import.meta.url;
export const consolePath = new URL('../', ownAddress).pathname;

/** Where a document of the version that runs is shown. @param path as source code cites it: `docs/flags.md` */
export const documentAddress = (path: string) => consolePath + path.replace(/\.md(?=#|$)/, '');

/** What stands before `/api/…`, without a slash at its end. */
const apiPrefix = consolePath.replace(/\/console\/$/, '');

/** Address of a path of the API, for links and for commands that work in a terminal. */
export const apiAddress = (path: string) => `${location.origin}${apiPrefix}${path}`;
/** Path of the API as this page asks for it. */
export const apiPath = (path: string) => `${apiPrefix}${path}`;
/** Where SDKs send events: named by the server, otherwise the page's own host. */
export const ingestAddress = () =>
  document.querySelector('meta[name="millrace-ingest"]')?.getAttribute('content') || `${location.origin}${apiPrefix}`;

/** An answer that is no success, or none at all (`status` 0). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** Which part of the input it is about; a form shows it beside that field. */
  readonly attr: string | null;
  /** For whoever reads the server's log. */
  readonly requestId: string | null;
  /** Of a 429 or 503. */
  readonly retryAfterMs: number | null;
  /** The whole body, for what a route says beside the usual. */
  readonly body: unknown;

  constructor(status: number, body: unknown, headers: Headers) {
    const { code, detail, attr } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    super(typeof detail === 'string' ? detail : '');
    this.name = 'ApiProblem';
    this.status = status;
    this.code = typeof code === 'string' ? code : '';
    this.attr = typeof attr === 'string' ? attr : null;
    this.requestId = headers.get('x-request-id');
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : null;
    this.body = body;
  }
}

export type Query = Record<string, string | number | boolean | undefined | null | readonly string[]>;

export interface ApiCall {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** A documented path: `/api/projects/1/events`. */
  path: string;
  query?: Query;
  body?: unknown;
  /** For the few actions that answer with nothing unless they are asked to. */
  wantsAnswer?: boolean;
}

/** Path and query of a call. What is undefined, null or empty is left out; a list becomes a parameter for each. */
function pathOf({ path, query = {} }: Pick<ApiCall, 'path' | 'query'>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    if (typeof value === 'object') for (const one of value) parameters.append(name, one);
    else parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Where a GET lies, for a frame of the page. */
export const callPath = (request: Pick<ApiCall, 'path' | 'query'>) => apiPath(pathOf(request));

/** The position in the address of the next page, to ask for that page with; `undefined` on the last one. */
export const cursorOf = (next: string | null) =>
  next === null ? undefined : (new URL(next, location.origin).searchParams.get('cursor') ?? undefined);

/** The answer's JSON as the caller knows its shape from the OpenAPI document; `undefined` for 204. @throws ApiProblem */
export async function call<Answer>(request: ApiCall, signal?: AbortSignal): Promise<Answer> {
  const response = await ask(request, signal);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

/** The same, unread: for streams and for bytes as they came. @throws ApiProblem */
export async function ask(request: ApiCall, signal?: AbortSignal): Promise<Response> {
  const { method = 'GET', body, wantsAnswer = false } = request;
  const response = await fetch(apiPath(pathOf(request)), {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(signal && { signal }),
    headers: {
      accept: '*/*',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(wantsAnswer && { prefer: 'return=representation' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiProblem(0, { code: 'unreachable' }, new Headers());
  });
  if (response.ok) return response;
  const text = await response.text();
  throw new ApiProblem(response.status, parseOrText(text), response.headers);
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether the installation mails invites: as the server says in the page. */
export const sendsMail = () => document.querySelector('meta[name="millrace-mail"]')?.getAttribute('content') === 'on';

/** Sign-in providers of the installation, as the server says in the page. */
export function signInProviders(): readonly { kind: string; name: string }[] {
  const said = document.querySelector('meta[name="millrace-providers"]')?.getAttribute('content');
  return said ? JSON.parse(said) : [];
}

/** A command for sh that makes the same call. The key is read from the environment, so that none stands in a history. */
export function curlOf({ method = 'GET', body, ...address }: ApiCall): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoteForShell(apiAddress(pathOf(address)))}`];
  lines.push(`-H "Authorization: Bearer $MILLRACE_API_KEY"`);
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${quoteForShell(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

/** One word of sh, whatever is in it. */
export const quoteForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
