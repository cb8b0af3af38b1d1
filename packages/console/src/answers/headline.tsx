import { changeOf, formatChange, formatValue, type Series, totalOf } from './series.ts';
import { text } from './words.ts';
import './answers.css';

/** One figure that can be read at a glance, and how it moved. */
export function Headline({ series, isSum }: { series: readonly Series[]; isSum: boolean }) {
  const of = (period: 'current' | 'previous') =>
    series
      .filter(({ compare_label: label = 'current' }) => label === period)
      .reduce((sum, one) => sum + totalOf(one), 0);
  const [now, before] = [of('current'), of('previous')];
  const isCompared = series.some(({ compare_label: period }) => period === 'previous');
  const change = isCompared ? changeOf(now, before) : null;
  const count = series.filter(({ compare_label: period }) => period !== 'previous').length;
  if (!isSum && count > 1) return null;
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
