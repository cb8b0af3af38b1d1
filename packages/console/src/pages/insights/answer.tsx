import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { SeriesChart } from '../../answers/chart.tsx';
import { Headline } from '../../answers/headline.tsx';
import { fieldsOf, isKind, listOf, type Question } from '../../answers/question.ts';
import { nameOfSeries, type Point, type Series } from '../../answers/series.ts';
import { Funnel, Retention, RowsTable, SeriesTable, TimeTable } from '../../answers/tables.tsx';
import { text as answers } from '../../answers/words.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
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
  const list = Array.isArray(results) ? results : [];
  const isOverTime = listOf(list).some(({ days }) => Array.isArray(days) && days.length > 0);
  const { bins } = fieldsOf(results);
  if (columns === undefined && list.length === 0 && bins === undefined) return <Nothing>{again}</Nothing>;
  if (question.kind !== 'RetentionQuery' && isKind(question.kind) && isOverTime)
    return (
      <OverTime
        question={question}
        series={list as Series[]}
        onQuestion={onQuestion}
        again={again}
        onPersons={onPersons}
      />
    );
  return (
    <>
      <div className="insight-head">
        <span className="grow" />
        {again}
      </div>
      {Array.isArray(bins) ? (
        <RowsTable rows={bins} columns={answers.bins} />
      ) : columns !== undefined ? (
        <RowsTable rows={list} columns={columns} />
      ) : question.kind === 'RetentionQuery' ? (
        <Retention groups={listOf(list)} question={question} onPersons={onPersons} />
      ) : question.kind === 'FunnelsQuery' ? (
        <Funnel results={list} question={question} onPersons={onPersons} />
      ) : (
        <SeriesTable series={list as Series[]} />
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
  const current = series.filter(({ compare_label: period }) => period !== 'previous');
  const isPlainCount = question.kind === 'TrendsQuery' && filter.formula === undefined;
  const point = (one: Series, at: number): Point | null => {
    if (question.kind === 'FunnelsQuery' || filter.formula !== undefined) return null;
    const day = one.days[at] ?? '';
    const source = {
      ...{ kind: 'InsightActorsQuery', source: question, day },
      ...(one.status === undefined ? { series: one.order ?? 0 } : { status: one.status }),
      ...(one.breakdown_value !== undefined && { breakdown: one.breakdown_value }),
      ...(one.compare_label !== undefined && { compare: one.compare_label }),
    };
    return { name: answers.personsAt(nameOfSeries(one), day), source };
  };
  const open = (one: Series, at: number) => {
    const found = point(one, at);
    if (found !== null) onPersons(found);
  };
  const displays =
    question.kind === 'TrendsQuery'
      ? text.displays
      : { [shown === 'table' ? 'ActionsBar' : shown]: text.displays.ActionsBar, table: text.displays.table };
  return (
    <>
      <div className="insight-head">
        <Headline series={series} isSum={isPlainCount} />
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
        <TimeTable series={series} onPoint={point(series[0] as Series, 0) === null ? undefined : open} />
      ) : (
        <>
          <SeriesChart series={series} isBars={isBars} onPoint={(at) => current[0] && open(current[0], at)} />
          <SeriesTable series={series} />
        </>
      )}
    </>
  );
}
