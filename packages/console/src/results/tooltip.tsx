// A chart's tooltip, and a sentence with the same values for screen readers.

import { formatInterval } from '@millrace/contracts/chart';
import { computeChange, formatChange, formatValue, seriesValueAt } from '@millrace/contracts/numbers';
import type { Drawn, Plot } from './plot.ts';
import { text } from './words.ts';

const maxRows = 12;

const inOrder = (drawn: readonly Drawn[], at: number) =>
  [...drawn].sort((a, b) => (seriesValueAt(b.series, at) ?? -1) - (seriesValueAt(a.series, at) ?? -1));

function numbersAt({ format }: Plot, { series, before }: Drawn, at: number) {
  const now = seriesValueAt(series, at);
  const then = before?.data[at];
  return {
    value: now === null ? '–' : formatValue(now, format),
    before: then === undefined ? '–' : formatValue(then, format),
    change: formatChange(now === null ? null : computeChange(now, then ?? null, format), format),
  };
}

/** Describes an interval's values in a sentence for screen readers. @param nearest the series to name first */
export function describeForScreenReaders(plot: Plot, at: number, nearest: Drawn | undefined): string {
  const ordered = inOrder(plot.drawn, at).filter((one) => one !== nearest);
  const descriptions = (nearest === undefined ? ordered : [nearest, ...ordered]).slice(0, maxRows).map((one) => {
    const { value, before, change } = numbersAt(plot, one, at);
    return `${one.name} ${value}${one.before === undefined ? '' : `, ${text.before} ${before}, ${change}`}`;
  });
  const interval = formatInterval(plot.days[at] ?? '', plot.interval);
  return text.sentence(at >= plot.open ? text.openInterval(interval) : interval, descriptions);
}

/** Shows the values of all series in an interval and in the same interval of the previous period. */
export function ChartTooltip({
  plot,
  at,
  nearest,
  hint,
}: {
  plot: Plot;
  at: number;
  nearest: Drawn | undefined;
  hint: string | null;
}) {
  const rows = inOrder(plot.drawn, at);
  const isCompared = rows.some(({ before }) => before !== undefined);
  const day = rows.find(({ before }) => before !== undefined)?.before?.days[at];
  const left = `clamp(0px, calc(${plot.x(at) * 100}% ${plot.x(at) > 0.5 ? '- var(--tooltip) - 12px' : '+ 12px'}), calc(100% - var(--tooltip)))`;
  return (
    <div
      className={isCompared ? 'chart-tooltip chart-tooltip-wide' : 'chart-tooltip'}
      style={{ insetInlineStart: left }}
    >
      <p>
        <strong>{formatInterval(plot.days[at] ?? '', plot.interval)}</strong>
        {at >= plot.open && <span className="quiet"> · {text.openPeriod}</span>}
        {day !== undefined && <span className="quiet"> {text.comparedTo(formatInterval(day, plot.interval))}</span>}
      </p>
      <table>
        <tbody>
          {rows.slice(0, maxRows).map((one) => {
            const { value, before, change } = numbersAt(plot, one, at);
            return (
              <tr key={one.key} {...(one === nearest && { 'data-nearest': '' })}>
                <td className="cut">
                  <span className={`insight-mark ${one.tone}`} />
                  {one.name}
                </td>
                <td className="number">{value}</td>
                {isCompared && <td className="number quiet">{before}</td>}
                {isCompared && <td className="number quiet">{change}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > maxRows && <p className="hint">{text.moreSeries(rows.length - maxRows)}</p>}
      {hint !== null && <p className="hint">{hint}</p>}
    </div>
  );
}
