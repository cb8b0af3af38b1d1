// Narrows a query's date range to the part of the chart that the user selected, and restores the range.

import { endOfInterval, type Interval, parseSeriesTime, readInterval } from '@millrace/contracts/chart';
import { useState } from 'react';
import { type InsightQuery, toFields } from '../../results/insight-query.ts';

/**
 * The finer interval that replaces each interval in a short selection, because a chart with two points is not useful.
 */
const finer: Partial<Record<Interval, Interval>> = { month: 'day', week: 'day', day: 'hour', hour: 'minute' };

/** Returns the query with its date range narrowed to the points from index `from` to index `to`. */
function zoomed(insightQuery: InsightQuery, days: readonly string[], from: number, to: number): InsightQuery {
  const interval = readInterval(insightQuery);
  const [first = '', last = ''] = [days[from], days[to]];
  const end = new Date(endOfInterval(parseSeriesTime(last), interval) - 1000).toISOString();
  const hasTimes = last.length > 10;
  // If the selection includes the last interval, keep the end of the date range, because it may be the current time.
  const until = toFields(insightQuery.dateRange).date_to;
  const dateTo = to === days.length - 1 ? until : hasTimes ? end.slice(0, 19) : end.slice(0, 10);
  return {
    ...insightQuery,
    interval: (to - from < 2 ? finer[interval] : undefined) ?? interval,
    dateRange: { date_from: first.replace(' ', 'T'), ...(typeof dateTo === 'string' && { date_to: dateTo }) },
  };
}

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
