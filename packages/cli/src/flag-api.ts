// Feature flags as the management API returns them, and functions that find them.

import { Refusal } from './failures.ts';
import type { Api } from './management-api.ts';

/** The flag fields that are printed as text. `--json` prints the complete response. */
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

/** The page size, which is the maximum that the API accepts. */
const pageSize = 1000;

/** Lists a project's flags, including archived flags, sorted by key. */
export async function listFlags(api: Api, narrowed: Record<string, string> = {}): Promise<Flag[]> {
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

/** Finds a flag by its key. @throws Refusal if no flag has this key. The message suggests a similar key. */
export async function getFlag(api: Api, key: string): Promise<Flag> {
  const flag = (await listFlags(api, { search: key })).find((each) => each.key === key);
  if (flag === undefined)
    throw createUnknownFlagError(
      key,
      (await listFlags(api)).map((each) => each.key),
    );
  return flag;
}

export function createUnknownFlagError(key: string, keys: string[]): Refusal {
  const [nearest] = keys
    .map((known) => ({ known, changes: changesBetween(key.toLowerCase(), known.toLowerCase()) }))
    .filter(({ known, changes }) => changes <= Math.max(2, Math.min(key.length, known.length) / 3))
    .sort((one, other) => one.changes - other.changes);
  const meant = nearest ? ` Did you mean ${nearest.known}?` : '';
  return new Refusal(`<key>: The project has no flag ${JSON.stringify(key)}.${meant}`);
}

/**
 * Returns the Levenshtein distance: how many characters must be inserted, deleted or replaced to convert one string
 * into the other.
 */
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
