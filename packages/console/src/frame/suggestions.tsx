import { useQuery } from '@tanstack/react-query';
import { call, type Query } from '../api/request.ts';
import { useDebounced } from '../parts/debounced.ts';
import { formatPropertyName } from '../parts/properties.ts';
import { useProject } from './project.ts';

/** A `datalist` for an input's `list` attribute, with readable labels for SDK properties. */
export const SuggestionList = ({ id, names }: { id: string; names: readonly string[] }) => (
  <datalist id={id}>
    {names.map((name) => (
      <option key={name} value={name} {...(name.startsWith('$') && { label: formatPropertyName(name) })} />
    ))}
  </datalist>
);

/** Loads suggestions after the user stops typing. Never returns suggestions for an earlier input. */
export function useSuggestions<Result, Item>(
  path: string,
  query: Query & { limit?: number },
  { isNeeded, items }: { isNeeded: boolean; items: (result: Result) => Item[] },
): Item[] {
  const { id } = useProject();
  const queryText = JSON.stringify(query);
  const settledQuery = useDebounced(queryText);
  const { data } = useQuery({
    queryKey: ['suggestions', id, path, settledQuery],
    queryFn: ({ signal }) =>
      call<Result>({ path: `/api/projects/${id}/${path}`, query: JSON.parse(settledQuery) as Query }, signal),
    staleTime: 60_000,
    retry: false,
    enabled: isNeeded && settledQuery === queryText,
  });
  return data === undefined ? [] : items(data);
}
