// Series of an answer: what they are called, their sums and how these moved.

import { visible } from '../event-detail/json-text.ts';
import { formatNumber } from '../words.ts';

/** A point of an answer, as the source of an `ActorsQuery`, and what it is called. */
export interface Point {
  name: string;
  source: object;
}

export interface Series {
  label: string;
  breakdown_value?: unknown;
  compare_label?: 'current' | 'previous';
  /** Of a lifecycle. */
  status?: string;
  data: number[];
  days: string[];
  count: number;
  aggregated_value?: number;
  /** Index of its event. */
  order?: number;
  /** Null: of a formula. */
  action?: { math?: string | null } | null;
}

const totalOf = ({ aggregated_value: total, count }: Series) => total ?? count;

/** Counts of events can be summed up over time; persons cannot: one who came on two days is no two persons. */
const sums = new Set([null, undefined, 'total', 'sum']);

/** One number for all times: the sum, or what it is on average. @param isAddedUp the last number holds all before it */
export function overAllOf(series: readonly Series[], isAddedUp: boolean): { value: number; isAverage: boolean } {
  const isAverage =
    !isAddedUp &&
    series.some(
      ({ aggregated_value: total, action, status }) =>
        total === undefined && status === undefined && (action === null || !sums.has(action?.math)),
    );
  const value = series.reduce(
    (sum, one) => sum + (isAverage ? totalOf(one) / Math.max(1, one.data.length) : totalOf(one)),
    0,
  );
  return { value, isAverage };
}

/** Of what was before; null where there was nothing. */
export const changeOf = (now: number, before: number) => (before === 0 ? null : ((now - before) / before) * 100);

export const formatValue = (value: number) => formatNumber(Math.round(value * 100) / 100);

export const formatChange = (percent: number) =>
  `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${formatNumber(Math.round(Math.abs(percent) * 10) / 10)}%`;

export const nameOfSeries = ({ label, breakdown_value: value, status }: Series) => {
  if (status) return status;
  const shown = Array.isArray(value) ? value.join(', ') : value;
  const said = shown === undefined || shown === null ? label : String(shown);
  return visible(
    said.replace('$$_posthog_breakdown_null_$$', '(none)').replace('$$_posthog_breakdown_other_$$', '(other)'),
  );
};

/** The same for a series and what it was in the time before. */
export const keyOf = ({ order, label, breakdown_value: value, status }: Series) =>
  JSON.stringify([order, label, value, status]);

/** Without what was before. */
export const currentOf = (series: readonly Series[]) =>
  series.filter(({ compare_label: period }) => period !== 'previous');

/** Lines beyond these are grey: the table tells them. */
const colours = 4;

export const toneOf = (at: number) => (at < colours ? `series-${at + 1}` : 'series-more');
