import { useQuery } from '@tanstack/react-query';
import { useContext } from 'react';
import { call } from '../api/request.ts';
import { ProjectContext, useProject } from '../frame/project.ts';
import { Headline } from './headline.tsx';
import { Marks } from './marks.tsx';
import { drawnOf, plotOf } from './plot.ts';
import { fieldsOf, type Question } from './question.ts';
import { wallTime } from './retention-cells.ts';
import { currentOf, type Series } from './series.ts';
import { seriesOverTime } from './tables.tsx';
import { text } from './words.ts';
import './chart.css';

/** A large number for the entire range, with its change and a line chart of how it developed. */
export function BigNumber({ series, question }: { series: readonly Series[]; question: Question }) {
  // A public page cannot run the query for the line chart.
  const isInProject = useContext(ProjectContext) !== null;
  return (
    <div className="big-number">
      <Headline series={series} question={question} />
      {isInProject && currentOf(series).length === 1 && <Sparkline question={question} />}
    </div>
  );
}

/** Runs the same query over time and draws it as a line. */
function Sparkline({ question }: { question: Question }) {
  const { id, timezone } = useProject();
  const { compareFilter: _, ...source } = question;
  const query = { ...source, trendsFilter: { ...fieldsOf(question.trendsFilter), display: 'ActionsLineGraph' } };
  const { data, error } = useQuery({
    queryKey: ['answer', id, JSON.stringify(query), 'over time'],
    queryFn: ({ signal }) =>
      call<{ results: unknown }>({ method: 'POST', path: `/api/projects/${id}/query`, body: { query } }, signal),
    staleTime: 60_000,
  });
  if (error) return <p className="hint">{text.noSparkline}</p>;
  const series = seriesOverTime(question, data?.results);
  return (
    <div className="sparkline" role="img" aria-label={text.sparkline}>
      {series && (
        <Marks plot={plotOf(drawnOf(series), { question, now: wallTime(new Date(), timezone) })} bright={null} />
      )}
    </div>
  );
}
