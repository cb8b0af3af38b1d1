import { useQueries, useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import type { Flag, KeyOf, Page } from './flag.ts';

const mostKnown = 500;

/** Tags and keys of the newest flags: what there is to choose from, and names for the numbers in conditions. */
export function useKnownFlags(): { tags: readonly string[]; keyOf: KeyOf } {
  const { id } = useProject();
  const { data } = useQuery({
    queryKey: ['flags', id, 'known'],
    queryFn: ({ signal }) =>
      call<Page<Flag>>({ path: `/api/projects/${id}/feature_flags`, query: { limit: mostKnown } }, signal),
    select: namesOf,
    staleTime: 60_000,
  });
  return { tags: data?.tags ?? [], keyOf: (number) => data?.keys.get(number) ?? `#${number}` };
}

function namesOf({ results }: Page<Flag>) {
  return {
    tags: [...new Set(results.flatMap(({ tags }) => tags))].sort(),
    keys: new Map(results.map(({ id, key }) => [String(id), key])),
  };
}

export interface GroupType {
  index: number;
  name: string;
}

/** A project has five at most; each is known by its first group. */
export function useGroupTypes(): readonly GroupType[] {
  const { id } = useProject();
  return useQueries({
    queries: [0, 1, 2, 3, 4].map((index) => ({
      queryKey: ['group type', id, index],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call<{ results: { group_type: string | null }[] }>(
          { path: `/api/projects/${id}/groups`, query: { group_type_index: index, limit: 1 } },
          signal,
        ),
      staleTime: 300_000,
    })),
    combine: (answers) =>
      answers.flatMap(({ data }, index) => {
        const [group] = data?.results ?? [];
        return group === undefined ? [] : [{ index, name: group.group_type ?? `#${index}` }];
      }),
  });
}

export interface Cohort {
  id: number;
  name: string | null;
}

export function useCohorts(isNeeded: boolean): readonly Cohort[] {
  const { id } = useProject();
  const { data } = useQuery({
    queryKey: ['cohorts', id],
    queryFn: ({ signal }) =>
      call<Page<Cohort>>({ path: `/api/projects/${id}/cohorts`, query: { limit: 1000 } }, signal),
    staleTime: 60_000,
    enabled: isNeeded,
  });
  return data?.results ?? [];
}
