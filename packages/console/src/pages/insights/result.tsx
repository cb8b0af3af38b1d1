// The insight builder's result, as a chart or a table.

import { type RefObject, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { AnnotateButton } from '../../results/annotations.tsx';
import { BigNumber } from '../../results/big-number.tsx';
import { SeriesChart } from '../../results/chart.tsx';
import { ExportMenu } from '../../results/export-menu.tsx';
import { ResultHeadline } from '../../results/headline.tsx';
import { renderImage } from '../../results/image.ts';
import { type InsightQuery, toFields } from '../../results/insight-query.ts';
import type { Plot } from '../../results/plot.ts';
import { formatSeriesName, type Point, type Series } from '../../results/series.ts';
import {
  buildActorsQuery,
  ResultTable,
  readSeriesOverTime,
  readTotalSeries,
  SeriesTable,
  TimeTable,
} from '../../results/tables.tsx';
import { text as resultTexts } from '../../results/words.ts';
import { NumberFormatButton } from './number-format.tsx';
import { isKind, listChartTypes, setChartType } from './query.ts';
import type { ShownResult } from './view.ts';
import { text } from './words.ts';
import { useZoom, type Zoom } from './zoom.ts';

interface PaneProps {
  insightQuery: InsightQuery;
  result: ShownResult;
  onQuery: (insightQuery: InsightQuery) => void;
  onAgain: () => void;
  onPersons: (point: Point) => void;
}

/** The previous result remains visible, but grayed out, until a new result arrives. */
export function ResultPane({ insightQuery, result, onQuery, onAgain, onPersons }: PaneProps) {
  const zoom = useZoom(insightQuery, onQuery);
  const isOld = result.isPlaceholderData || result.isFetching;
  return (
    <section className="insight-result" aria-label={text.result} aria-busy={isOld} {...(isOld && { 'data-old': '' })}>
      <QueryContent query={result.error ? { ...result, data: undefined } : result} what={text.result}>
        {({ results, columns }) => (
          <Shown
            insightQuery={insightQuery}
            results={results}
            columns={columns}
            onQuery={onQuery}
            onAgain={onAgain}
            onPersons={onPersons}
            zoom={zoom}
          />
        )}
      </QueryContent>
    </section>
  );
}

function Shown({
  insightQuery,
  results,
  columns,
  onQuery,
  onAgain,
  onPersons,
  zoom,
}: Pick<PaneProps, 'insightQuery' | 'onQuery' | 'onAgain' | 'onPersons'> & {
  results: unknown;
  columns: string[] | undefined;
  zoom: Zoom;
}) {
  const [isTable, setTable] = useState(false);
  const shown = useRef<Plot>(null);
  if (columns === undefined && Array.isArray(results) && results.length === 0)
    return (
      <Nothing>
        <Button onPress={onAgain}>{text.refresh}</Button>
        {zoom.onReset && <Button onPress={zoom.onReset}>{text.resetZoom}</Button>}
      </Nothing>
    );
  const overTime = isKind(insightQuery.kind) ? readSeriesOverTime(insightQuery, results) : null;
  const totals = overTime === null ? readTotalSeries(insightQuery, results) : null;
  const image = async () => {
    if (shown.current === null) throw new Error('No chart is shown.');
    return renderImage(shown.current);
  };
  const { chartTypes, chosen } = listChartTypes(insightQuery);
  const choose = (chartType: string) => {
    setTable(chartType === 'table');
    const next = setChartType(insightQuery, chartType);
    if (next !== insightQuery) onQuery(next);
  };
  return (
    <>
      <div className="insight-head">
        {overTime && <ResultHeadline series={overTime} insightQuery={insightQuery} />}
        <span className="grow" />
        {zoom.onReset && <Button onPress={zoom.onReset}>{text.resetZoom}</Button>}
        {chartTypes !== null && (
          <fieldset className="choices">
            <legend className="only-heard">{text.display}</legend>
            {Object.entries(chartTypes).map(([chartType, name]) => (
              <button
                key={chartType}
                type="button"
                className="button"
                aria-pressed={chartType === (isTable && overTime ? 'table' : chosen)}
                onClick={() => choose(chartType)}
              >
                {name}
              </button>
            ))}
          </fieldset>
        )}
        {overTime && !isTable && <AnnotateButton />}
        {insightQuery.kind === 'TrendsQuery' && <NumberFormatButton {...{ insightQuery, onQuery }} />}
        <ExportMenu {...{ results, columns }} image={overTime && !isTable ? image : undefined} />
        <Button aria-label={text.refresh} onPress={onAgain}>
          ↻
        </Button>
      </div>
      {totals && <BigNumber series={totals} insightQuery={insightQuery} />}
      {overTime ? (
        <OverTime {...{ insightQuery, isTable, onPersons, zoom, shown }} series={overTime} />
      ) : (
        <ResultTable {...{ insightQuery, results, columns, onPersons }} />
      )}
    </>
  );
}

function Nothing({ children }: { children: React.ReactNode }) {
  return (
    <EmptyState title={text.noEvents} icon="insights">
      <p className="quiet">{text.noEventsText}</p>
      <div className="form-buttons">{children}</div>
    </EmptyState>
  );
}

function OverTime({
  insightQuery,
  series,
  isTable,
  onPersons,
  zoom,
  shown,
}: Pick<PaneProps, 'insightQuery' | 'onPersons'> & {
  series: readonly Series[];
  isTable: boolean;
  zoom: Zoom;
  shown: RefObject<Plot | null>;
}) {
  // A formula's value does not correspond to a set of persons.
  const hasPersons = toFields(insightQuery.trendsFilter).formula === undefined;
  const open = (one: Series, at: number) => {
    const day = one.days[at] ?? '';
    onPersons({
      name: resultTexts.personsAt(formatSeriesName(one), day),
      source: buildActorsQuery(insightQuery, one, day),
    });
  };
  const onPoint = hasPersons ? open : undefined;
  if (isTable) return <TimeTable {...{ series, insightQuery, onPoint }} />;
  return (
    <>
      <SeriesChart {...{ series, insightQuery, onPoint, shown, ...zoom }} />
      {insightQuery.kind === 'FunnelsQuery' ? (
        <TimeTable {...{ series, insightQuery, onPoint }} />
      ) : (
        <SeriesTable insightQuery={insightQuery} series={series} />
      )}
    </>
  );
}
