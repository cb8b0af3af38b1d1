// Detects searches that scan many events, and explains timeouts to the user.

import { ApiProblem } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { formatPropertyName } from '../../parts/properties.ts';
import { parseTime, type Span, spanLength } from '../../parts/span.tsx';
import { words } from '../../words.ts';
import type { Filters, PropertyFilter } from './filters.tsx';
import { text } from './words.ts';

export const isTooSlow = (error: unknown) => error instanceof ApiProblem && error.code === 'query_timeout';

/** Returns whether to retry a failed query. Unlike the default rule, it does not retry a query that timed out. */
export function shouldRetry(failures: number, error: Error): boolean {
  if (!(error instanceof ApiProblem) || isTooSlow(error)) return false;
  if (error.status === 429) return failures < 10;
  return (error.status === 0 || error.status >= 500) && failures < 2;
}

/** Returns the filters that make the database read all events in the range, or all with the selected name. */
export function findScannedFilters(filters: Filters, properties: readonly PropertyFilter[], search: string): string[] {
  if (filters.distinct_id !== '' || filters.person_id !== '') return [];
  const names = properties.map(({ key }) => formatPropertyName(key));
  return search === '' ? names : [...names, text.searched(search)];
}

const dayMs = 86_400_000;

/**
 * Returns whether the search may take seconds because it reads all events in a long time range. If so, the page shows a
 * hint.
 */
export const isLongScan = (scanned: readonly string[], span: Span) =>
  scanned.length > 0 && spanLength(span) > 8 * dayMs;

/** Shown after a search has timed out. Suggests shorter time ranges, and explains why the search was slow. */
export function TooSlow({
  error,
  span,
  scanned,
  onSpan,
}: {
  error: unknown;
  span: Span;
  scanned: readonly string[];
  onSpan: (span: Span) => void;
}) {
  if (!isTooSlow(error)) return null;
  const end = span.before === '' ? '' : parseTime(span.before).toISOString();
  const shorter = Object.entries(words.span.presets).filter(
    ([after]) => Date.now() - parseTime(after).getTime() < spanLength(span) * 0.9,
  );
  const choose = (after: string) => {
    if (end === '') return onSpan({ after, before: '' });
    onSpan({ after: parseTime(after, new Date(end)).toISOString(), before: end });
  };
  return (
    <div className="state" data-state="slow" role="alert">
      <span className="state-picture">
        <Icon name="warnings" size={40} />
      </span>
      <h2>{text.slowTitle}</h2>
      <p className="quiet">{text.slow(text.slowBecause(scanned))}</p>
      <div className="form-buttons">
        {shorter
          .reverse()
          .slice(0, 3)
          .map(([after, name]) => (
            <Button key={after} onPress={() => choose(after)}>
              {name}
            </Button>
          ))}
      </div>
    </div>
  );
}
