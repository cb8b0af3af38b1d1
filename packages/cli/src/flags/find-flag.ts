import type { ProjectApi } from '../management-api/connect-api.ts';
import { Refusal } from '../refusals.ts';
import type { Flag } from './flag-answers.ts';

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
