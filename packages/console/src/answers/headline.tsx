import { changeOf, currentOf, formatChange, formatValue, overAllOf, type Series } from './series.ts';
import { text } from './words.ts';
import './answers.css';

/** One figure that can be read at a glance, and how it moved. */
export function Headline({ series, isSum }: { series: readonly Series[]; isSum: boolean }) {
  const current = currentOf(series);
  if (!isSum && current.length > 1) return null;
  const { value: now, isAverage } = overAllOf(current);
  const former = series.filter((one) => !current.includes(one));
  const change = former.length > 0 ? changeOf(now, overAllOf(former).value) : null;
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
