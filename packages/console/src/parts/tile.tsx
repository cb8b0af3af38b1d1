import type { ReactNode } from 'react';
import { formatNumber } from '../words.ts';

/** Shows a figure and its time range. An unknown figure is shown as a dash instead of zero. */
export function Tile({
  label,
  value,
  more,
  tone,
  chart,
  isAway = false,
}: {
  label: string;
  /** Numbers are rounded. Strings are shown unchanged. */
  value: number | string | null | undefined;
  more: ReactNode;
  tone?: 'good' | 'warn' | 'bad' | undefined;
  chart?: ReactNode;
  /** Whether the figure's source is unavailable. If so, `more` contains the reason. */
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
