import type { ReactNode } from 'react';
import { formatNumber } from '../words.ts';

/** Shows a single figure and the time range that it covers. An unknown figure is shown as a dash and not as zero. */
export function Tile({
  label,
  value,
  more,
  tone,
  chart,
  isAway = false,
}: {
  label: string;
  /** The figure. Numbers are rounded, and strings are shown unchanged. */
  value: number | string | null | undefined;
  /** Additional text below the figure. */
  more: ReactNode;
  tone?: 'good' | 'warn' | 'bad' | undefined;
  chart?: ReactNode;
  /** Whether the source of the figure is unavailable. `more` then contains the reason. */
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
