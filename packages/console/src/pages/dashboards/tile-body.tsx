// The content of a dashboard tile: a text or an insight result.

import { lazy, type ReactNode, Suspense, useContext } from 'react';
import { loadPageCode } from '../../frame/broken.tsx';
import { explainError } from '../../parts/states.tsx';
import { ChartPlace } from '../../results/annotation.ts';
import { BigNumber } from '../../results/big-number.tsx';
import { SeriesChart } from '../../results/chart.tsx';
import { ResultHeadline } from '../../results/headline.tsx';
import { findSource, type InsightQuery } from '../../results/insight-query.ts';
import { selectCurrent } from '../../results/series.ts';
import { ResultTable, readSeriesOverTime, readTotalSeries } from '../../results/tables.tsx';
import { text as resultTexts } from '../../results/words.ts';
import { findVariableProblem, readSqlNode } from '../../sql/node.ts';
import { words } from '../../words.ts';
import type { TileInsight } from './shapes.ts';
import { text } from './words.ts';

const SqlResult = lazy(
  loadPageCode(() => import('../../sql/result.tsx').then((part) => ({ default: part.SqlResult }))),
);

/** Text tiles are loaded on demand, because they need the Markdown library. */
const LoadedText = lazy(loadPageCode(() => import('./text-body.tsx').then((part) => ({ default: part.TextBody }))));

export const TextBody = ({ body }: { body: string }) => (
  <Suspense fallback={<TileMessage>{words.states.loading}</TileMessage>}>
    <LoadedText body={body} />
  </Suspense>
);

export function TileResult({ insight, isLoading, error }: { insight: TileData; isLoading: boolean; error: unknown }) {
  const { result, columns } = insight;
  const place = useContext(ChartPlace);
  if (error) {
    return (
      <TileMessage>
        <span className="bad">{text.failed}</span> {findVariableProblem(error)?.message ?? explainError(error)}
      </TileMessage>
    );
  }
  const sql = readSqlNode(insight.query);
  if (sql !== null && Array.isArray(result) && columns !== null)
    return (
      <Suspense fallback={<TileMessage>{words.states.loading}</TileMessage>}>
        <SqlResult node={sql} rows={result} columns={columns} types={insight.types} />
      </Suspense>
    );
  const insightQuery = findSource(insight.query);
  if (insightQuery === null || result === null)
    return <TileMessage>{isLoading ? words.states.loading : text.noResult}</TileMessage>;
  return (
    <ChartPlace value={place && { ...place, insight: insight.id }}>
      <Shown insightQuery={insightQuery} result={result} columns={columns} />
    </ChartPlace>
  );
}

export const TileMessage = ({ children }: { children: ReactNode }) => <p className="board-said quiet">{children}</p>;

function Shown({
  insightQuery,
  result,
  columns,
}: {
  insightQuery: InsightQuery;
  result: unknown;
  columns: string[] | null;
}) {
  if (columns === null && Array.isArray(result) && result.length === 0)
    return <TileMessage>{resultTexts.noEvents}</TileMessage>;
  const series = readSeriesOverTime(insightQuery, result);
  if (series === null) {
    const totals = readTotalSeries(insightQuery, result);
    return (
      <>
        {totals && <BigNumber series={totals} insightQuery={insightQuery} />}
        {(totals === null || selectCurrent(totals).length > 1) && (
          <ResultTable insightQuery={insightQuery} results={result} columns={columns} isTile />
        )}
      </>
    );
  }
  return (
    <>
      <div className="board-figure">
        <ResultHeadline series={series} insightQuery={insightQuery} />
      </div>
      <SeriesChart series={series} insightQuery={insightQuery} />
    </>
  );
}

/** The tile fields that the result needs. The ID is undefined on public pages. */
type TileData = Pick<TileInsight, 'query' | 'result' | 'columns'> & { id?: number; types?: unknown };
