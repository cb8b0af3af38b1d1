// Narrows a query's date range to a part of its chart, and restores the range.

import { endOfInterval, type Interval, parseSeriesTime, readInterval } from '@millrace/contracts/chart';
import { useState } from 'react';
import { type InsightQuery, toFields } from '../../results/insight-query.ts';

/** For each interval, a shorter one. It is used for short ranges, because a chart with two points is not useful. */
const finer: Partial<Record<Interval, Interval>> = { month: 'day', week: 'day', day: 'hour', hour: 'minute' };

/** Returns the query for a part of its date range. */
function zoomed(insightQuery: InsightQuery, days: readonly string[], from: number, to: number): InsightQuery {
  const interval = readInterval(insightQuery);
  const [first = '', last = ''] = [days[from], days[to]];
  const end = new Date(endOfInterval(parseSeriesTime(last), interval) - 1000).toISOString();
  const hasTimes = last.length > 10;
  // If the part includes the last interval, keep the end of the range, because it may be the current time.
  const until = toFields(insightQuery.dateRange).date_to;
  const dateTo = to === days.length - 1 ? until : hasTimes ? end.slice(0, 19) : end.slice(0, 10);
  return {
    ...insightQuery,
    interval: (to - from < 2 ? finer[interval] : undefined) ?? interval,
    dateRange: { date_from: first.replace(' ', 'T'), ...(typeof dateTo === 'string' && { date_to: dateTo }) },
  };
}

/** Zooms into a part of a chart by narrowing the date range, and zooms out by restoring it. */
export function useZoom(insightQuery: InsightQuery, onQuery: (insightQuery: InsightQuery) => void) {
  const [zoom, setZoom] = useState<{ now: string; before: Pick<InsightQuery, 'dateRange' | 'interval'> } | null>(null);
  const isZoomed = zoom?.now === JSON.stringify(insightQuery.dateRange);
  return {
    onZoom(days: readonly string[], from: number, to: number) {
      const next = zoomed(insightQuery, days, from, to);
      const { dateRange, interval } = insightQuery;
      setZoom({ now: JSON.stringify(next.dateRange), before: isZoomed ? zoom.before : { dateRange, interval } });
      onQuery(next);
    },
    onReset: isZoomed
      ? () => {
          setZoom(null);
          onQuery({ ...insightQuery, ...zoom.before });
        }
      : undefined,
  };
}

export type Zoom = ReturnType<typeof useZoom>;
