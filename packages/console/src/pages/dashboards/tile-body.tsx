import { type ReactNode, useContext, useMemo } from 'react';
import { ChartPlace } from '../../answers/annotation.ts';
import { BigNumber } from '../../answers/big-number.tsx';
import { SeriesChart } from '../../answers/chart.tsx';
import { Headline } from '../../answers/headline.tsx';
import { type Question, sourceOf } from '../../answers/question.ts';
import { currentOf } from '../../answers/series.ts';
import { AnswerTable, seriesInTotal, seriesOverTime } from '../../answers/tables.tsx';
import { text as answers } from '../../answers/words.ts';
import { Markdown, readPlainMarkdown } from '../../parts/markdown.tsx';
import { explain } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { TileInsight } from './shapes.ts';
import { text } from './words.ts';

/** The text of a tile. */
export function TextBody({ body }: { body: string }) {
  const tokens = useMemo(() => readPlainMarkdown(body), [body]);
  return (
    <div className="board-text markdown">
      <Markdown tokens={tokens} addressOf={(target) => (/^(https?:|mailto:)/i.test(target) ? target : undefined)} />
    </div>
  );
}

/** The result of a tile, or the reason why it has none. */
export function Answered({ insight, isLoading, error }: { insight: Answer; isLoading: boolean; error: unknown }) {
  const { result, columns } = insight;
  const place = useContext(ChartPlace);
  if (error) {
    return (
      <TileMessage>
        <span className="bad">{text.failed}</span> {explain(error)}
      </TileMessage>
    );
  }
  const question = sourceOf(insight.query);
  if (question === null || result === null)
    return <TileMessage>{isLoading ? words.states.loading : text.noAnswer}</TileMessage>;
  return (
    <ChartPlace value={place && { ...place, insight: insight.id }}>
      <Shown question={question} result={result} columns={columns} />
    </ChartPlace>
  );
}

export const TileMessage = ({ children }: { children: ReactNode }) => <p className="board-said quiet">{children}</p>;

function Shown({ question, result, columns }: { question: Question; result: unknown; columns: string[] | null }) {
  if (columns === null && Array.isArray(result) && result.length === 0)
    return <TileMessage>{answers.noEvents}</TileMessage>;
  const series = seriesOverTime(question, result);
  if (series === null) {
    const totals = seriesInTotal(question, result);
    return (
      <>
        {totals && <BigNumber series={totals} question={question} />}
        {(totals === null || currentOf(totals).length > 1) && (
          <AnswerTable question={question} results={result} columns={columns} isTile />
        )}
      </>
    );
  }
  return (
    <>
      <div className="board-figure">
        <Headline series={series} question={question} />
      </div>
      <SeriesChart series={series} question={question} />
    </>
  );
}

/** Insights on a public page have no ID. */
type Answer = Pick<TileInsight, 'query' | 'result' | 'columns'> & { id?: number };
