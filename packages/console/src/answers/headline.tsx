import { changeOf, currentOf, formatChange, formatValue, type Series, totalOf } from './series.ts';
import { text } from './words.ts';
import './answers.css';

/** One figure that can be read at a glance, and how it moved. */
export function Headline({ series, isSum }: { series: readonly Series[]; isSum: boolean }) {
  const current = currentOf(series);
  if (!isSum && current.length > 1) return null;
  const sumOf = (some: readonly Series[]) => some.reduce((sum, one) => sum + totalOf(one), 0);
  const now = sumOf(current);
  const change = current.length < series.length ? changeOf(now, sumOf(series) - now) : null;
  return (
    <p className="insight-figure">
      <strong className="tile-figure ink">{formatValue(now)}</strong>
      {change !== null && (
        <>
          <span className={change < 0 ? 'pill pill-bad' : 'pill pill-good'}>{formatChange(change)}</span>
          <span className="quiet">{text.against}</span>
        </>
      )}
    </p>
  );
}
