import { fieldsOf, type Question } from './question.ts';
import { changeOf, currentOf, formatChange, formatValue, overAllOf, type Series } from './series.ts';
import { text } from './words.ts';
import './answers.css';

/** One figure that can be read at a glance, and how it moved. */
export function Headline({ series, question }: { series: readonly Series[]; question: Question }) {
  const { formula, display } = fieldsOf(question.trendsFilter);
  const current = currentOf(series);
  // Shares of days have no sum.
  if (question.kind === 'FunnelsQuery') return null;
  if ((question.kind !== 'TrendsQuery' || formula !== undefined) && current.length > 1) return null;
  const isAddedUp = display === 'ActionsLineGraphCumulative';
  const { value: now, isAverage } = overAllOf(current, isAddedUp);
  const former = series.filter((one) => !current.includes(one));
  const change = former.length > 0 ? changeOf(now, overAllOf(former, isAddedUp).value) : null;
  return (
    <p className="insight-figure">
      <strong className="tile-figure ink">{formatValue(now)}</strong>
      {isAverage && <span className="quiet">{text.onAverage}</span>}
      {change !== null && (
        <>
          <span className={change < 0 ? 'pill pill-bad' : 'pill pill-good'}>{formatChange(change)}</span>
          <span className="quiet">{text.against}</span>
        </>
      )}
    </p>
  );
}
