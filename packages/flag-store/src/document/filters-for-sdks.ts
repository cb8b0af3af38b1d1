import type { StoredFlag } from '../definitions/stored-definitions.ts';
import type { DependencyTarget } from './dependency-chains.ts';

type Fields = Record<string, unknown>;

/** A flag's filters as SDKs know them: conditions in `groups`, dependencies by key. */
export function filtersForSdks(
  { filters, rollout_percentage }: StoredFlag,
  targetOf: (id: string) => DependencyTarget | undefined,
): Fields {
  const stored = (filters ?? {}) as Fields;
  // Flags of old had one list of filters and a rollout in a column of its own.
  const groups = Object.hasOwn(stored, 'groups')
    ? stored.groups
    : [{ properties: stored.properties ?? [], rollout_percentage }];
  return { ...stored, groups: mapList(groups, (group) => withKeys(group, targetOf)) };
}

function withKeys(group: Fields, targetOf: (id: string) => DependencyTarget | undefined): Fields {
  if (!Array.isArray(group.properties)) return group;
  const properties = mapList(group.properties, (filter) => {
    if (filter.type !== 'flag') return filter;
    const target = targetOf(String(filter.key));
    return { ...filter, key: target?.key ?? filter.key, dependency_chain: target?.chain ?? [] };
  });
  return { ...group, properties };
}

/** What is no list of objects is left as it is. */
function mapList(list: unknown, change: (member: Fields) => Fields): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((member: unknown) =>
    typeof member === 'object' && member !== null ? change(member as Fields) : member,
  );
}
