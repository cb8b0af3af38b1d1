import { computeChange, formatChange, formatValue, isGoodChange, readNumberFormat } from '@millrace/contracts/numbers';
import { type InsightQuery, toFields } from './insight-query.ts';
import { type Series, selectCurrent, sumOfSeries } from './series.ts';
import { text } from './words.ts';
import './results.css';

/** Shows the figure for the entire range and its change, or a note that the previous period has no data. */
export function ResultHeadline({ series, insightQuery }: { series: readonly Series[]; insightQuery: InsightQuery }) {
  const current = selectCurrent(series);
  const previous = series.filter((one) => !current.includes(one));
  const isCompared = toFields(insightQuery.compareFilter).compare === true;
  const hasPrevious = previous.some(({ data, aggregated_value: total }) => total || data?.some((value) => value !== 0));
  // Funnel rates, and the numbers of different lifecycle statuses, cannot be added up.
  const overall = insightQuery.kind === 'TrendsQuery' ? sumOfSeries(current, insightQuery) : null;
  const note = isCompared && !hasPrevious && <span className="quiet">{text.noPrevious}</span>;
  if (overall === null) return note ? <p className="insight-figure">{note}</p> : null;
  const format = readNumberFormat(insightQuery);
  const before = previous.length > 0 ? (sumOfSeries(previous, insightQuery)?.value ?? null) : null;
  const change = computeChange(overall.value, before, format);
  const isGood = isGoodChange(change, format);
  return (
    <p className="insight-figure">
      <strong className="tile-figure ink">{formatValue(overall.value, format)}</strong>
      {overall.isAverage && <span className="quiet">{text.onAverage}</span>}
      {hasPrevious && change !== null && (
        <>
          <span className={isGood === null ? 'pill' : isGood ? 'pill pill-good' : 'pill pill-bad'}>
            {formatChange(change, format)}
          </span>
          <span className="quiet">{text.against}</span>
        </>
      )}
      {note}
    </p>
  );
}
