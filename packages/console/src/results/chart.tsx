import { formatAxisLabels } from '@millrace/contracts/chart';
import { formatTick, seriesValueAt } from '@millrace/contracts/numbers';
import { type RefObject, useContext, useEffect } from 'react';
import { useTimezone } from '../frame/project.ts';
import { AxisLabels } from '../parts/axis-labels.tsx';
import { ChartPlace } from './annotation.ts';
import { Annotations } from './annotations.tsx';
import type { InsightQuery } from './insight-query.ts';
import { ChartLegend, useLegend } from './legend.tsx';
import { ChartMarks } from './marks.tsx';
import { createPlot, findNearest, type Plot, toDrawnSeries } from './plot.ts';
import { toWallTime } from './retention-cells.ts';
import type { Series } from './series.ts';
import { ChartTooltip, describeForScreenReaders } from './tooltip.tsx';
import { type ChartActions, useChartSelection } from './use-pointing.ts';
import { text } from './words.ts';
import './results.css';
import './chart.css';

/** A line or bar chart over time, with axes, a tooltip and a legend. */
export function SeriesChart({
  series,
  insightQuery,
  shown,
  ...actions
}: ChartActions & {
  series: readonly Series[];
  insightQuery: InsightQuery;
  /** Receives the chart without hidden series, for exporting an image. */
  shown?: RefObject<Plot | null>;
}) {
  const timezone = useTimezone();
  const place = useContext(ChartPlace);
  const drawn = toDrawnSeries(series);
  const legend = useLegend(drawn);
  const plot = createPlot(legend.shown, { insightQuery, now: toWallTime(new Date(), timezone) });
  useEffect(() => {
    if (shown) shown.current = plot;
  });
  return (
    <figure className="insight-chart">
      <div className="insight-axis hint" aria-hidden="true">
        {[...plot.ticks].reverse().map((tick) => (
          <span key={tick}>{formatTick(tick, plot.format)}</span>
        ))}
      </div>
      <div className="chart-place">
        <Pane plot={plot} bright={legend.bright} {...actions} />
        {place !== null && <Annotations plot={plot} insightQuery={insightQuery} />}
      </div>
      <div className="insight-days">
        <AxisLabels labels={formatAxisLabels(plot.days)} most={6} />
      </div>
      {drawn.length > 1 && <ChartLegend drawn={drawn} legend={legend} />}
    </figure>
  );
}

/** The plot area of a chart. Users can select a point in time with mouse, touch or keyboard, as with a slider. */
function Pane({ plot, bright, ...actions }: ChartActions & { plot: Plot; bright: string | null }) {
  const { at, y, dragged, handlers } = useChartSelection(plot, actions);
  const nearest = at === null ? undefined : findNearest(plot, at, y);
  const last = plot.days.length - 1;
  return (
    <div
      className={actions.onPoint ? 'chart-pane insight-click' : 'chart-pane'}
      role="slider"
      tabIndex={0}
      aria-label={text.chart(plot.drawn.map(({ name }) => name).slice(0, 5), plot.days[0] ?? '', plot.days[last] ?? '')}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={describeForScreenReaders(plot, at ?? last, nearest)}
      {...handlers}
    >
      <ChartMarks plot={plot} bright={bright} />
      {at !== null && <span className="chart-crosshair" style={{ insetInlineStart: `${plot.x(at) * 100}%` }} />}
      {at !== null &&
        !plot.isBars &&
        plot.drawn.map((one) => {
          const value = seriesValueAt(one.series, at);
          if (value === null) return null;
          return (
            <span
              key={one.key}
              className={`chart-dot ${one.tone}${one === nearest ? ' chart-dot-nearest' : ''}`}
              style={{ insetInlineStart: `${plot.x(at) * 100}%`, insetBlockStart: `${plot.y(value) * 100}%` }}
            />
          );
        })}
      {dragged !== null && (
        <span
          className="chart-range"
          style={{
            insetInlineStart: `${(dragged.from / plot.days.length) * 100}%`,
            inlineSize: `${((dragged.to - dragged.from + 1) / plot.days.length) * 100}%`,
          }}
        />
      )}
      {at !== null && dragged === null && (
        <ChartTooltip {...{ plot, at, nearest }} hint={actions.onPoint ? text.openHint : null} />
      )}
    </div>
  );
}
