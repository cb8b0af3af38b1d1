import type { ReactNode } from 'react';
import { formatNumber } from '../words.ts';

/** One figure with the span it is of. One that is not known shows a dash, not a zero. */
export function Tile({
  label,
  value,
  more,
  tone,
  chart,
  isAway = false,
}: {
  label: string;
  /** A number is rounded; a text is shown as it is. */
  value: number | string | null | undefined;
  /** Below the figure. */
  more: ReactNode;
  tone?: 'good' | 'warn' | 'bad' | undefined;
  chart?: ReactNode;
  /** Its source does not answer: `more` says why. */
  isAway?: boolean;
}) {
  const shown = typeof value === 'number' ? formatNumber(Math.round(value)) : (value ?? '–');
  return (
    <div className={isAway ? 'tile tile-away' : 'tile'}>
      <p className="quiet">
        {label}
        <span className={`tile-figure ${tone ?? 'ink'}`}>{shown}</span>
        <span className="hint cut">{more || '\u00a0'}</span>
      </p>
      {chart && <div className="tile-chart">{chart}</div>}
    </div>
  );
}
