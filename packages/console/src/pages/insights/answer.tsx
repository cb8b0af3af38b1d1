import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { SeriesChart } from '../../answers/chart.tsx';
import { Headline } from '../../answers/headline.tsx';
import { fieldsOf, type Question } from '../../answers/question.ts';
import { currentOf, nameOfSeries, type Point, type Series } from '../../answers/series.ts';
import { AnswerTable, SeriesTable, seriesOverTime, TimeTable } from '../../answers/tables.tsx';
import { text as answers } from '../../answers/words.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { isKind } from './question.ts';
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
  const again = <Button onPress={onAgain}>{text.refresh}</Button>;
  if (columns === undefined && Array.isArray(results) && results.length === 0) return <Nothing>{again}</Nothing>;
  const series = isKind(question.kind) ? seriesOverTime(question, results) : null;
  if (series !== null) return <OverTime {...{ question, series, onQuestion, again, onPersons }} />;
  return (
    <>
      <div className="insight-head">
        <span className="grow" />
        {again}
      </div>
      <AnswerTable {...{ question, results, columns, onPersons }} />
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
  again,
  onQuestion,
  onPersons,
}: {
  question: Question;
  series: readonly Series[];
  again: React.ReactNode;
  onQuestion: PaneProps['onQuestion'];
  onPersons: PaneProps['onPersons'];
}) {
  const [isTable, setTable] = useState(false);
  const filter = fieldsOf(question.trendsFilter);
  const isBars = question.kind === 'LifecycleQuery' || filter.display === 'ActionsBar';
  const shown = isTable ? 'table' : isBars ? 'ActionsBar' : 'ActionsLineGraph';
  const choose = (display: string) => {
    setTable(display === 'table');
    if (display !== 'table' && question.kind === 'TrendsQuery')
      onQuestion({ ...question, trendsFilter: { ...filter, display } });
  };
  const [first] = currentOf(series);
  // Nobody is behind a rate or a formula.
  const hasPersons = question.kind !== 'FunnelsQuery' && filter.formula === undefined;
  const open = (one: Series, at: number) => {
    const day = one.days[at] ?? '';
    const source = {
      ...{ kind: 'InsightActorsQuery', source: question, day },
      ...(one.status === undefined ? { series: one.order ?? 0 } : { status: one.status }),
      ...(one.breakdown_value !== undefined && { breakdown: one.breakdown_value }),
      ...(one.compare_label !== undefined && { compare: one.compare_label }),
    };
    onPersons({ name: answers.personsAt(nameOfSeries(one), day), source });
  };
  const displays =
    question.kind === 'TrendsQuery'
      ? text.displays
      : { [shown === 'table' ? 'ActionsBar' : shown]: text.displays.ActionsBar, table: text.displays.table };
  return (
    <>
      <div className="insight-head">
        <Headline series={series} isSum={question.kind === 'TrendsQuery' && filter.formula === undefined} />
        <span className="grow" />
        <fieldset className="insight-choices">
          <legend className="only-heard">{text.display}</legend>
          {Object.entries(displays).map(([display, name]) => (
            <button
              key={display}
              type="button"
              className="button"
              aria-pressed={shown === display}
              onClick={() => choose(display)}
            >
              {name}
            </button>
          ))}
        </fieldset>
        {again}
      </div>
      {isTable ? (
        <TimeTable series={series} onPoint={hasPersons ? open : undefined} />
      ) : (
        <>
          <SeriesChart
            series={series}
            isBars={isBars}
            onPoint={hasPersons && first ? (at) => open(first, at) : undefined}
          />
          <SeriesTable series={series} />
        </>
      )}
    </>
  );
}
