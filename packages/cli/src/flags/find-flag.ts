import { ApiRefusal } from '../management-api/api-refusal.ts';
import type { ProjectApi } from '../management-api/connect-api.ts';
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

export async function findFlag(api: ProjectApi, key: string): Promise<Flag | undefined> {
  return (await listFlags(api, { search: key })).find((flag) => flag.key === key);
}

/** @throws ApiRefusal when there is none of this key. */
export async function getFlag(api: ProjectApi, key: string): Promise<Flag> {
  const flag = await findFlag(api, key);
  if (flag === undefined) throw new ApiRefusal(`<key>: the project has no flag ${JSON.stringify(key)}`);
  return flag;
}
