import { formatPercent, formatValue, readNumberFormat } from '@millrace/contracts/numbers';
import { LineChart } from '../parts/chart.tsx';
import { findSource, type InsightQuery, toFieldsList } from './insight-query.ts';
import { type Series, selectCurrent, sumOfSeries } from './series.ts';
import { readSeriesOverTime, readTotalSeries } from './tables.tsx';
import { text } from './words.ts';

/** Shows an insight's result as a number with a small line chart, for lists. */
export function ResultPreview({ query, result }: { query: unknown; result: unknown }) {
  const insightQuery = findSource(query);
  if (insightQuery === null) return null;
  const series = readSeriesOverTime(insightQuery, result) ?? readTotalSeries(insightQuery, result);
  const current = series === null ? [] : selectCurrent(series);
  const [only, ...others] = current;
  const line = others.length === 0 ? (only?.data ?? []) : [];
  return (
    <span className="glance">
      {figureOf(insightQuery, { current, result })}
      {line.length > 1 && <LineChart values={line} label={text.sparkline} />}
    </span>
  );
}

function figureOf(insightQuery: InsightQuery, { current, result }: { current: readonly Series[]; result: unknown }) {
  if (insightQuery.kind === 'TrendsQuery') {
    const overall = sumOfSeries(current, insightQuery);
    return overall && formatValue(overall.value, readNumberFormat(insightQuery));
  }
  if (insightQuery.kind !== 'FunnelsQuery' || current.length > 0) return null;
  const counts = toFieldsList(result).map(({ count }) => Number(count));
  const [first = 0, last = 0] = [counts[0], counts.at(-1)];
  return first === 0 ? null : formatPercent((last / first) * 100);
}
