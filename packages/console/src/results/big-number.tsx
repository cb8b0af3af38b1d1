import { useQuery } from '@tanstack/react-query';
import { useContext } from 'react';
import { call } from '../api/request.ts';
import { ProjectContext, useProject } from '../frame/project.ts';
import { ResultHeadline } from './headline.tsx';
import { type InsightQuery, toFields } from './insight-query.ts';
import { ChartMarks } from './marks.tsx';
import { createPlot, toDrawnSeries } from './plot.ts';
import { toWallTime } from './retention-cells.ts';
import { type Series, selectCurrent } from './series.ts';
import { readSeriesOverTime } from './tables.tsx';
import { text } from './words.ts';
import './chart.css';

/** Shows one large number for the entire range, with its change and a small line chart. */
export function BigNumber({ series, insightQuery }: { series: readonly Series[]; insightQuery: InsightQuery }) {
  // A public page cannot run the additional query for the line chart.
  const isInProject = useContext(ProjectContext) !== null;
  return (
    <div className="big-number">
      <ResultHeadline series={series} insightQuery={insightQuery} />
      {isInProject && selectCurrent(series).length === 1 && <Sparkline insightQuery={insightQuery} />}
    </div>
  );
}

/** Runs the query again with values over time, and draws them as a line chart. */
function Sparkline({ insightQuery }: { insightQuery: InsightQuery }) {
  const { id, timezone } = useProject();
  const { compareFilter: _, ...source } = insightQuery;
  const query = { ...source, trendsFilter: { ...toFields(insightQuery.trendsFilter), display: 'ActionsLineGraph' } };
  const { data, error } = useQuery({
    queryKey: ['result', id, JSON.stringify(query), 'over time'],
    queryFn: ({ signal }) =>
      call<{ results: unknown }>({ method: 'POST', path: `/api/projects/${id}/query`, body: { query } }, signal),
    staleTime: 60_000,
  });
  if (error) return <p className="hint">{text.noSparkline}</p>;
  const series = readSeriesOverTime(insightQuery, data?.results);
  return (
    <div className="sparkline" role="img" aria-label={text.sparkline}>
      {series && (
        <ChartMarks
          plot={createPlot(toDrawnSeries(series), { insightQuery, now: toWallTime(new Date(), timezone) })}
          bright={null}
        />
      )}
    </div>
  );
}
