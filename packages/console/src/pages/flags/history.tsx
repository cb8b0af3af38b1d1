// Shows a flag's history, with the lines that each change added or removed.

import { useInfiniteQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { formatFilterValue } from '../../filters/filter.ts';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState, ErrorState } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { words } from '../../words.ts';
import { describeFlagFilters, type FlagFilters, type KeyOf } from './flag.ts';
import { useFlagSuggestions } from './flag-suggestions.ts';
import { text } from './words.ts';

interface Activity {
  user: { first_name: string; email: string | null };
  activity: string;
  detail: { changes: { field: string; before: unknown; after: unknown }[] | null };
  created_at: string;
}
interface ActivityPage {
  results: Activity[];
  next: string | null;
}

export function FlagHistory({ flagId }: { flagId: number }) {
  const { id, timezone } = useProject();
  const query = useInfiniteQuery({
    queryKey: ['flags', id, 'history', flagId],
    queryFn: ({ pageParam, signal }) =>
      call<ActivityPage>(
        { path: `/api/projects/${id}/feature_flags/${flagId}/activity`, query: { limit: 20, page: pageParam } },
        signal,
      ),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length + 1),
  });
  if (query.data === undefined) {
    if (query.error)
      return <ErrorState what={text.history.what} error={query.error} onAgain={() => void query.refetch()} />;
    return (
      <p className="waiting" role="status">
        {words.states.loading}
      </p>
    );
  }
  const all = query.data.pages.flatMap(({ results }) => results);
  if (all.length === 0) {
    return (
      <EmptyState title={text.history.emptyTitle} icon="flags">
        <p className="quiet">{text.history.empty}</p>
      </EmptyState>
    );
  }
  return (
    <>
      <ol className="flag-history">
        {all.map((one) => (
          <li key={`${one.created_at} ${one.activity}`}>
            <p>
              <strong>{one.user.first_name || one.user.email}</strong>{' '}
              {text.history.verbs[one.activity] ?? one.activity}{' '}
              <time className="quiet" dateTime={one.created_at} title={formatTime(one.created_at, timezone)}>
                {formatAgo(one.created_at)}
              </time>
            </p>
            {one.detail.changes?.map((change) => (
              <Change key={change.field} {...change} />
            ))}
          </li>
        ))}
      </ol>
      {query.hasNextPage && (
        <div className="form-buttons flag-more">
          <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
            {text.history.more}
          </Button>
        </div>
      )}
    </>
  );
}

function Change({ field, before, after }: { field: string; before: unknown; after: unknown }) {
  const { keyOf } = useFlagSuggestions();
  const [removed, added] = findDifferences(formatLines(field, before, keyOf), formatLines(field, after, keyOf));
  return (
    <div className="flag-change">
      <span className="hint">{text.history.fields[field] ?? field.replaceAll('_', ' ')}</span>
      {removed.map((line) => (
        <del key={line}>
          <span className="only-heard">{text.history.before} </span>
          {line}
        </del>
      ))}
      {added.map((line) => (
        <ins key={line}>
          <span className="only-heard">{text.history.after} </span>
          {line}
        </ins>
      ))}
    </div>
  );
}

export function formatLines(field: string, value: unknown, keyOf: KeyOf): string[] {
  if (field === 'filters' && typeof value === 'object' && value !== null)
    return describeFlagFilters(value as FlagFilters, keyOf);
  if (value === null || value === undefined || value === '') return [text.history.nothing];
  return [
    Array.isArray(value) ? value.map(formatFilterValue).join(', ') || text.history.nothing : formatFilterValue(value),
  ];
}

/**
 * Returns the lines that only one of the two versions contains. If all lines are equal, returns both versions
 * completely.
 */
export function findDifferences(
  before: readonly string[],
  after: readonly string[],
): [removed: string[], added: string[]] {
  const removed = before.filter((line) => !after.includes(line));
  const added = after.filter((line) => !before.includes(line));
  return removed.length + added.length > 0 ? [removed, added] : [[...before], [...after]];
}
