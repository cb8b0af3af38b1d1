import { endOf, type Interval, intervalOf, timeOf } from '@millrace/contracts/chart';
import { useState } from 'react';
import { fieldsOf, type Question } from '../../answers/question.ts';

/** Two points are not a useful chart, so short ranges switch to a shorter interval. */
const finer: Partial<Record<Interval, Interval>> = { month: 'day', week: 'day', day: 'hour', hour: 'minute' };

/** The query for a part of its range. */
function zoomed(question: Question, days: readonly string[], from: number, to: number): Question {
  const interval = intervalOf(question);
  const [first = '', last = ''] = [days[from], days[to]];
  const end = new Date(endOf(timeOf(last), interval) - 1000).toISOString();
  const hasTimes = last.length > 10;
  // The last interval ends at the end of the range, which may be now.
  const until = fieldsOf(question.dateRange).date_to;
  const dateTo = to === days.length - 1 ? until : hasTimes ? end.slice(0, 19) : end.slice(0, 10);
  return {
    ...question,
    interval: (to - from < 2 ? finer[interval] : undefined) ?? interval,
    dateRange: { date_from: first.replace(' ', 'T'), ...(typeof dateTo === 'string' && { date_to: dateTo }) },
  };
}

/** Zooms into a part of a chart by narrowing the date range, and undoes it. */
export function useZoom(question: Question, onQuestion: (question: Question) => void) {
  const [zoom, setZoom] = useState<{ now: string; before: Pick<Question, 'dateRange' | 'interval'> } | null>(null);
  const isZoomed = zoom?.now === JSON.stringify(question.dateRange);
  return {
    onZoom(days: readonly string[], from: number, to: number) {
      const next = zoomed(question, days, from, to);
      const { dateRange, interval } = question;
      setZoom({ now: JSON.stringify(next.dateRange), before: isZoomed ? zoom.before : { dateRange, interval } });
      onQuestion(next);
    },
    onReset: isZoomed
      ? () => {
          setZoom(null);
          onQuestion({ ...question, ...zoom.before });
        }
      : undefined,
  };
}

export type Zoom = ReturnType<typeof useZoom>;
