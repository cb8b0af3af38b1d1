import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { parseTime, type Span } from '../../parts/span.tsx';
import { EmptyState, explainError } from '../../parts/states.tsx';
import { formatMinute, formatTime } from '../../parts/time.ts';
import { words } from '../../words.ts';
import type { Filters } from './filters.tsx';
import type { ListedEvent } from './list.tsx';
import { shouldRetry } from './slow.tsx';
import { text } from './words.ts';

/**
 * Shown if no events match the time range. Shows the time of the latest event, with a button that extends the range to
 * include it.
 */
export function EmptyEvents({
  path,
  filters,
  span,
  zone,
  onSpan,
  onClear,
}: {
  path: string;
  filters: Filters;
  span: Span;
  zone: string;
  onSpan: (span: Span) => void;
  onClear: () => void;
}) {
  const project = useProject();
  const query = { ...filters, limit: 1 };
  const last = useQuery({
    queryKey: ['last event', project.id, query],
    queryFn: ({ signal }) => call<{ results: ListedEvent[]; searched_until?: string }>({ path, query }, signal),
    retry: shouldRetry,
  });
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const time = last.data?.results[0]?.timestamp;
  const searchedUntil = last.data?.searched_until;
  const noneFound = searchedUntil === undefined ? text.emptyNone : text.emptySince(formatMinute(searchedUntil, zone));
  if (last.isSuccess && time === undefined && !isFiltered) {
    return (
      <EmptyState title={text.firstTitle}>
        <p className="quiet">{text.first}</p>
        <div className="form-buttons">
          <Link className="button button-main" to={`/projects/${project.id}/live`}>
            {text.toLive}
          </Link>
        </div>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={isFiltered ? text.emptyFiltered : text.emptyTitle}>
      <p className="quiet" role="status">
        {last.isPending && text.emptySearching}
        {last.isSuccess && (time === undefined ? noneFound : text.emptyLast(formatTime(time, zone)))}
        {last.error && explainError(last.error)}
      </p>
      <div className="form-buttons">
        {time !== undefined && (
          <Button look="main" onPress={() => onSpan(spanWith(time, span))}>
            {text.emptyShow}
          </Button>
        )}
        {isFiltered && <Button onPress={onClear}>{text.emptyClear}</Button>}
      </div>
    </EmptyState>
  );
}

/** Returns the shortest preset range that contains a time, or else a custom range around the time. */
function spanWith(time: string, span: Span): Span {
  const moment = Date.parse(time);
  const usual = Object.keys(words.span.presets).find((after) => parseTime(after).getTime() < moment);
  if (usual !== undefined && span.before === '' && moment < Date.now()) return { after: usual, before: '' };
  const hour = 3_600_000;
  return { after: new Date(moment - hour).toISOString(), before: new Date(moment + hour).toISOString() };
}
