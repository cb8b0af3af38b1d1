import type { Command } from 'commander';
import { Refusal, UsageError } from './failures.ts';
import { describeBody, describeNetworkError } from './http.ts';
import { requireAddress } from './options.ts';
import type { Terminal } from './output.ts';
import type { GlobalOptions } from './session.ts';

export interface ApiOptions extends GlobalOptions {
  apiUrl?: string;
  personalApiKey?: string;
  project: string;
}

/** One project over the management API. */
export interface ProjectApi {
  /**
   * @param path below the project, like `feature_flags/`.
   * @throws Refusal saying what it answered, or that it does not.
   */
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<unknown>;
}

/** The options that say where the management API is, and whose project is meant. */
export function withApiOptions(command: Command): Command {
  return command
    .option('--project <id>', "the project's number (default: the current one of the key's owner)", '@current')
    .option('--api-url <url>', 'address of the management API (default: API_URL)')
    .option('--personal-api-key <key>', 'key with the scopes of flags (default: PERSONAL_API_KEY)');
}

const timeoutMs = 30_000;

/** @throws UsageError naming the option that is missing. */
export function connectApi(options: ApiOptions, terminal: Terminal): ProjectApi {
  const host = requireAddress(options.apiUrl || terminal.env.API_URL, {
    option: '--api-url',
    missing: 'give the address of the management API, or set API_URL; where `npm start` runs it is found',
    example: 'https://api.example.com',
  });
  const key = options.personalApiKey || terminal.env.PERSONAL_API_KEY;
  if (!key) throw new UsageError('--personal-api-key: give a personal API key, or set PERSONAL_API_KEY');
  const base = `${host}/api/projects/${encodeURIComponent(options.project)}/`;
  return { call: (method, path, body) => call(method, base + path, { key, body, host }) };
}

interface Asked {
  key: string;
  body: unknown;
  host: string;
}

async function call(method: string, url: string, { key, body, host }: Asked): Promise<unknown> {
  const { status, text } = await fetchText(host, url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': 'millrace' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answered = `the management API answered ${status}${describeBody(text)}`;
  if (status === 401 || status === 403) throw new Refusal(`--personal-api-key: ${answered}`);
  if (status === 404 && text.includes('"Project not found."')) throw new Refusal(`--project: ${answered}`);
  // Another server knows nothing of the path, or leads elsewhere.
  const isOther = status === 404 || (status >= 300 && status < 400);
  if (status >= 400 && !isOther) throw new Refusal(answered);
  try {
    if (!isOther) return JSON.parse(text) as unknown;
  } catch {
    // Said below.
  }
  throw new Refusal(`--api-url: what answers at ${host} is no management API (status ${status})`);
}

async function fetchText(host: string, url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new Refusal(`--api-url: the management API at ${host} does not answer: ${describeNetworkError(error)}`);
  }
}

/** What the management API answers of a flag, as far as a person is shown it; `--json` shows all. */
export interface Flag {
  id: number;
  key: string;
  name: string;
  active: boolean;
  archived: boolean;
  status: string;
  version: number;
  filters: Filters;
  tags: string[];
  updated_at: string;
  last_called_at: string | null;
  sdk_warnings: string[];
}

export interface Filters extends Record<string, unknown> {
  groups?: Condition[];
  multivariate?: { variants?: { key: string; rollout_percentage: number }[] } | null;
}

export interface Condition {
  properties?: { key: string; type?: string; value?: unknown }[] | null;
  rollout_percentage?: number | null;
  variant?: string | null;
}

/** Why a flag is what it is for somebody. */
export interface Reason {
  value: boolean | string;
  evaluation: { reason: string; condition_index: number | null; description: string };
  explanation: Explanation | null;
}

export interface Explanation {
  hashed: string;
  holdout: { percentage: number; hash: number | null; is_held_out: boolean } | null;
  enrollment: Source[] | null;
  conditions: {
    outcome: string;
    filters: (Partial<Source> & { about: string; id?: number; key?: string; outcome: unknown })[];
    rollout: { percentage: number; hash: number | null };
  }[];
  variant_hash: number | null;
}

interface Source {
  source: string;
  property: string;
}

/** Pages of lists are this long at most. */
const pageSize = 1000;

/** The flags of a project by key, archived ones too. */
export async function listFlags(api: ProjectApi, narrowed: Record<string, string> = {}): Promise<Flag[]> {
  const flags: Flag[] = [];
  for (const archived of ['false', 'true']) {
    for (let offset = 0; ; offset += pageSize) {
      const query = { ...narrowed, archived, order: 'key', limit: String(pageSize), offset: String(offset) };
      const path = `feature_flags/?${new URLSearchParams(query)}`;
      const page = (await api.call('GET', path)) as { results: Flag[]; next: string | null };
      flags.push(...page.results);
      if (page.next === null) break;
    }
  }
  return flags.sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** @throws Refusal when there is none of this key, with the key that was perhaps meant. */
export async function getFlag(api: ProjectApi, key: string): Promise<Flag> {
  const flag = (await listFlags(api, { search: key })).find((each) => each.key === key);
  if (flag === undefined)
    throw noSuchFlag(
      key,
      (await listFlags(api)).map((each) => each.key),
    );
  return flag;
}

export function noSuchFlag(key: string, keys: string[]): Refusal {
  const [nearest] = keys
    .map((known) => ({ known, changes: changesBetween(key.toLowerCase(), known.toLowerCase()) }))
    .filter(({ known, changes }) => changes <= Math.max(2, Math.min(key.length, known.length) / 3))
    .sort((one, other) => one.changes - other.changes);
  const meant = nearest ? ` (Did you mean ${nearest.known}?)` : '';
  return new Refusal(`<key>: the project has no flag ${JSON.stringify(key)}${meant}`);
}

/** How many characters have to be put in, left out or replaced to make one text of the other (Levenshtein). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [line, character] of [...one].entries()) {
    const next = [line + 1];
    for (let column = 1; column < row.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (other[column - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
