// A client for the management API, and the command-line options for its URL and key.

import { type Command, Option } from 'commander';
import { Refusal, UsageError } from './failures.ts';
import { describeBody, describeNetworkError } from './http.ts';
import { requireServerUrl } from './options.ts';
import type { Terminal } from './output.ts';
import type { GlobalOptions } from './session.ts';

interface HostOptions extends GlobalOptions {
  apiUrl?: string;
  personalApiKey?: string;
}

export interface ApiOptions extends HostOptions {
  project: string;
}

/** A client for the management API's paths below a prefix, such as the path of a project. */
export interface Api {
  /**
   * Sends a request to the management API.
   * @param path the path relative to the prefix, for example `feature_flags/`
   * @throws Refusal if the API rejects the request or does not respond
   */
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<unknown>;
}

/**
 * Adds the options for the management API's URL, the key and the project.
 * @param scopes the scopes that the key needs, for example `the feature_flag scopes`
 */
export function addApiOptions(command: Command, scopes = 'the feature_flag scopes'): Command {
  const project = new Option('--project <id>', 'project ID').default(
    '@current',
    "the current project of the key's owner",
  );
  return addHostOptions(command.addOption(project), scopes);
}

export function addHostOptions(command: Command, scopes: string): Command {
  return command
    .option('--api-url <url>', 'URL of the management API (default: API_URL)')
    .option('--personal-api-key <key>', `personal API key with ${scopes} (default: PERSONAL_API_KEY)`);
}

/**
 * Time limit of a request. It is longer than the API's time limit for queries, so that the API can report its own
 * error.
 */
const timeoutMs = 60_000;

/** Creates a client for a project's paths. @throws UsageError that names the missing option */
export function createProjectApiClient(options: ApiOptions, terminal: Terminal): Api {
  return createApiClient(`/api/projects/${encodeURIComponent(options.project)}/`, options, terminal);
}

/**
 * Creates a client for the paths below a base path.
 * @param base a path that ends with a slash
 * @throws UsageError that names the missing option
 */
export function createApiClient(base: string, options: HostOptions, terminal: Terminal): Api {
  const host = requireServerUrl(options.apiUrl || terminal.env.API_URL, {
    option: '--api-url',
    missing:
      'Pass the URL of the management API, or set API_URL. Neither is needed in a clone where `npm start` is running.',
    example: 'https://api.example.com',
  });
  const key = options.personalApiKey || terminal.env.PERSONAL_API_KEY;
  if (!key) throw new UsageError('--personal-api-key: Pass a personal API key, or set PERSONAL_API_KEY.');
  return { call: (method, path, body) => call(method, host + base + path, { key, body, host }) };
}

interface CallOptions {
  key: string;
  body: unknown;
  host: string;
}

async function call(method: string, url: string, { key, body, host }: CallOptions): Promise<unknown> {
  const { status, text } = await fetchText(host, url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': 'millrace' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const message = `The management API responded with ${status}${describeBody(text)}`;
  if (status === 401 || status === 403) throw new Refusal(`--personal-api-key: ${message}`);
  if (status === 404 && text.includes('"Project not found."')) throw new Refusal(`--project: ${message}`);
  // A server other than Millrace responds to an unknown path with 404 or a redirect.
  const isOther = status === 404 || (status >= 300 && status < 400);
  if (status >= 400 && !isOther) throw new Refusal(message);
  try {
    if (!isOther) return JSON.parse(text) as unknown;
  } catch {
    // Ignore the parse error, because the error below reports invalid JSON.
  }
  throw new Refusal(`--api-url: ${host} is not a Millrace management API (it responded with ${status}).`);
}

async function fetchText(host: string, url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new Refusal(`--api-url: Could not reach the management API at ${host} (${describeNetworkError(error)}).`);
  }
}
