import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import type { Flag, KeyOf, Page } from './flag.ts';

const maxKnown = 500;

/** Loads the newest flags, to suggest their tags and to show flag keys in conditions instead of IDs. */
export function useFlagSuggestions(): { tags: readonly string[]; keyOf: KeyOf } {
  const { id } = useProject();
  const { data } = useQuery({
    queryKey: ['flags', id, 'known'],
    queryFn: ({ signal }) =>
      call<Page<Flag>>({ path: `/api/projects/${id}/feature_flags`, query: { limit: maxKnown } }, signal),
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
