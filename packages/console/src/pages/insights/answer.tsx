import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { SeriesChart } from '../../answers/chart.tsx';
import { Headline } from '../../answers/headline.tsx';
import { fieldsOf, type Question } from '../../answers/question.ts';
import { currentOf, nameOfSeries, type Point, type Series } from '../../answers/series.ts';
import { AnswerTable, behind, SeriesTable, seriesInTotal, seriesOverTime, TimeTable } from '../../answers/tables.tsx';
import { text as answers } from '../../answers/words.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { drawnAs, isKind, waysToDraw } from './question.ts';
import type { Answer } from './view.ts';
import { text } from './words.ts';

interface PaneProps {
  question: Question;
  answer: UseQueryResult<Answer>;
  onQuestion: (question: Question) => void;
  onAgain: () => void;
  onPersons: (point: Point) => void;
}

/** What the question is answered with; the answer before stays, greyed, until the next is there. */
export function AnswerPane({ question, answer, onQuestion, onAgain, onPersons }: PaneProps) {
  const isOld = answer.isPlaceholderData || answer.isFetching;
  return (
    <section className="insight-answer" aria-label={text.answer} aria-busy={isOld} {...(isOld && { 'data-old': '' })}>
      <Loaded query={answer.error ? { ...answer, data: undefined } : answer} what={text.answer}>
        {({ results, columns }) => (
          <Shown
            question={question}
            results={results}
            columns={columns}
            onQuestion={onQuestion}
            onAgain={onAgain}
            onPersons={onPersons}
          />
        )}
      </Loaded>
    </section>
  );
}

function Shown({
  question,
  results,
  columns,
  onQuestion,
  onAgain,
  onPersons,
}: Pick<PaneProps, 'question' | 'onQuestion' | 'onAgain' | 'onPersons'> & {
  results: unknown;
  columns: string[] | undefined;
}) {
  const [isTable, setTable] = useState(false);
  if (columns === undefined && Array.isArray(results) && results.length === 0)
    return (
      <Nothing>
        <Button onPress={onAgain}>{text.refresh}</Button>
      </Nothing>
    );
  const overTime = isKind(question.kind) ? seriesOverTime(question, results) : null;
  const series = overTime ?? seriesInTotal(question, results);
  const { ways, chosen } = waysToDraw(question);
  const choose = (way: string) => {
    setTable(way === 'table');
    const next = drawnAs(question, way);
    if (next !== question) onQuestion(next);
  };
  return (
    <>
      <div className="insight-head">
        {series && <Headline series={series} question={question} />}
        <span className="grow" />
        {ways !== null && (
          <fieldset className="choices">
            <legend className="only-heard">{text.display}</legend>
            {Object.entries(ways).map(([way, name]) => (
              <button
                key={way}
                type="button"
                className="button"
                aria-pressed={way === (isTable && overTime ? 'table' : chosen)}
                onClick={() => choose(way)}
              >
                {name}
              </button>
            ))}
          </fieldset>
        )}
        <Button aria-label={text.refresh} onPress={onAgain}>
          ↻
        </Button>
      </div>
      {overTime ? (
        <OverTime {...{ question, isTable, onPersons }} series={overTime} />
      ) : (
        <AnswerTable {...{ question, results, columns, onPersons }} />
      )}
    </>
  );
}

function Nothing({ children }: { children: React.ReactNode }) {
  return (
    <Empty title={text.noEvents} icon="insights">
      <p className="quiet">{text.noEventsText}</p>
      <div className="form-buttons">{children}</div>
    </Empty>
  );
}

function OverTime({
  question,
  series,
  isTable,
  onPersons,
}: Pick<PaneProps, 'question' | 'onPersons'> & { series: readonly Series[]; isTable: boolean }) {
  const { formula, display } = fieldsOf(question.trendsFilter);
  const [first] = currentOf(series);
  // Nobody is behind a rate or a formula.
  const hasPersons = question.kind !== 'FunnelsQuery' && formula === undefined;
  const open = (one: Series, at: number) => {
    const day = one.days[at] ?? '';
    onPersons({ name: answers.personsAt(nameOfSeries(one), day), source: behind(question, one, day) });
  };
  if (isTable) return <TimeTable series={series} onPoint={hasPersons ? open : undefined} />;
  return (
    <>
      <SeriesChart
        series={series}
        isBars={question.kind === 'LifecycleQuery' || display === 'ActionsBar'}
        onPoint={hasPersons && first ? (at) => open(first, at) : undefined}
      />
      {question.kind === 'FunnelsQuery' ? (
        <TimeTable series={series} />
      ) : (
        <SeriesTable question={question} series={series} />
      )}
    </>
  );
}
