// Loads the names that the SQL editor suggests.

import { useMemo } from 'react';
import { queryClient } from '../../api/queries.ts';
import { call, type Query } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { loadVariables } from '../../sql/variables.ts';
import type { FoundNames, NameLoaders } from './editor/complete.ts';
import type { SqlSchema } from './editor/names.ts';

/**
 * Maximum number of names that the editor loads at a time. When the user continues typing, it loads the names that
 * match.
 */
const maxNames = 100;

export function useNameLoaders(): NameLoaders {
  const { id } = useProject();
  return useMemo(() => {
    const names = async (path: string, query: Query) => {
      const parameters = { ...query, exclude_hidden: true, ordering: '-last_seen_at', limit: maxNames };
      const { next, results } = await queryClient.fetchQuery({
        queryKey: ['sql names', id, path, parameters],
        queryFn: ({ signal }) =>
          call<{ next: string | null; results: { name: string }[] }>(
            { path: `/api/projects/${id}/${path}`, query: parameters },
            signal,
          ),
        staleTime: 60_000,
        retry: false,
      });
      return { names: results.map(({ name }) => name), hasMore: next !== null };
    };
    // If loading fails, the editor does not suggest names, and the user can continue typing.
    const orNone = (found: Promise<FoundNames>) => found.catch(() => ({ names: [], hasMore: true }));
    return {
      schema: () =>
        queryClient
          .fetchQuery({
            queryKey: ['sql schema', id],
            queryFn: ({ signal }) =>
              call<SqlSchema>(
                { method: 'POST', path: `/api/projects/${id}/query`, body: { query: { kind: 'DatabaseSchemaQuery' } } },
                signal,
              ),
            staleTime: Number.POSITIVE_INFINITY,
          })
          .catch(() => null),
      variables: () => loadVariables(id).catch(() => []),
      events: (search) => orNone(names('event_definitions', { search: search.slice(0, 100) })),
      properties: ({ of, groupType }, search) =>
        orNone(names('property_definitions', { type: of, group_type_index: groupType, search: search.slice(0, 100) })),
    };
  }, [id]);
}
