// The project's cohorts and group types, which users can choose in filters.

import { useQueries, useQuery } from '@tanstack/react-query';
import { call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';

export interface GroupType {
  index: number;
  name: string;
}

/** Loads the project's group types. A project has at most five, each with an index. */
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
    combine: (results) =>
      results.flatMap(({ data }, index) => {
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
      call<{ results: Cohort[] }>({ path: `/api/projects/${id}/cohorts`, query: { limit: 1000 } }, signal),
    staleTime: 60_000,
    enabled: isNeeded,
  });
  return data?.results ?? [];
}
