/** The URL of this script, which has the form `<console>/assets/…`. */
const ownAddress = import.meta.url;
/**
 * URL path of the console with a trailing slash: `/console/`, or for example `/analytics/console/` if a proxy serves
 * the API below a path.
 */
export const consolePath = new URL('../', ownAddress).pathname;

/**
 * Returns the URL path of a manual page for the running version.
 * @param path the page's path in the repository, such as `docs/flags.md`
 */
export const getManualUrl = (path: string) => consolePath + path.replace(/\.md(?=#|$)/, '');

/**
 * The path under which a proxy serves the installation: the part of the URL before `/api/…`, without a trailing slash.
 */
const apiPrefix = consolePath.replace(/\/console\/$/, '');

/** Returns the absolute URL of an API path, for links and terminal commands. */
export const getApiUrl = (path: string) => `${location.origin}${apiPrefix}${path}`;
/** Returns the URL path for a request from this page, by adding the installation's path to an API path. */
export const toApiPath = (path: string) => `${apiPrefix}${path}`;
/** Returns the URL to which SDKs send events: the configured URL or, by default, this page's origin. */
export const getIngestUrl = () =>
  document.querySelector('meta[name="millrace-ingest"]')?.getAttribute('content') || `${location.origin}${apiPrefix}`;

/** Thrown if a request is unsuccessful. `status` is 0 if no response arrived. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** Name of the input field that caused the error. Forms show the error next to this field. */
  readonly attr: string | null;
  readonly requestId: string | null;
  /** Delay from the `Retry-After` header of a response with status 429 or 503. */
  readonly retryAfterMs: number | null;
  /** The complete response body. The errors of some routes contain additional fields. */
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
  /** The path as in the API documentation, such as `/api/projects/1/events`. */
  path: string;
  query?: Query;
  body?: unknown;
  /** Whether the response must contain the result. Without this option, some actions return an empty body. */
  wantsResult?: boolean;
}

/**
 * Returns the path and query string of a request. Omits undefined, null and empty values. A list becomes a repeated
 * parameter.
 */
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

/** Returns the URL path of a GET request, for use in an iframe. */
export const getRequestPath = (request: Pick<ApiCall, 'path' | 'query'>) => toApiPath(pathOf(request));

/** Returns the cursor in the URL of the next page, or `undefined` on the last page. */
export const readCursor = (next: string | null) =>
  next === null ? undefined : (new URL(next, location.origin).searchParams.get('cursor') ?? undefined);

/**
 * Sends a request and returns the parsed JSON, or `undefined` for status 204. The caller specifies the result type from
 * the OpenAPI document.
 * @throws ApiProblem
 */
export async function call<Result>(request: ApiCall, signal?: AbortSignal): Promise<Result> {
  const response = await sendRequest(request, signal);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as Result;
}

/** Sends a request and returns the response without reading its body, for streams and raw bytes. @throws ApiProblem */
export async function sendRequest(request: ApiCall, signal?: AbortSignal): Promise<Response> {
  const { method = 'GET', body, wantsResult = false } = request;
  const response = await fetch(toApiPath(pathOf(request)), {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(signal && { signal }),
    headers: {
      accept: '*/*',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(wantsResult && { prefer: 'return=representation' }),
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

/** Returns whether the installation sends emails. The server writes this into a meta tag of the page. */
export const sendsMail = () => document.querySelector('meta[name="millrace-mail"]')?.getAttribute('content') === 'on';

/** Returns the installation's identity providers, which the server writes into the page. */
export function readSignInProviders(): readonly { kind: string; name: string }[] {
  const content = document.querySelector('meta[name="millrace-providers"]')?.getAttribute('content');
  return content ? JSON.parse(content) : [];
}

/**
 * Returns a shell command that makes the same call. The command reads the API key from an environment variable, so that
 * the key does not appear in the shell history.
 */
export function formatCurl({ method = 'GET', body, ...address }: ApiCall): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoteForShell(getApiUrl(pathOf(address)))}`];
  lines.push(`-H "Authorization: Bearer $MILLRACE_API_KEY"`);
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${quoteForShell(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

/** Quotes a string as a single shell word. */
export const quoteForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
