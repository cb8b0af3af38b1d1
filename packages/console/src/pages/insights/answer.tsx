import { type RefObject, useRef, useState } from 'react';
import { AnnotateButton } from '../../answers/annotations.tsx';
import { BigNumber } from '../../answers/big-number.tsx';
import { SeriesChart } from '../../answers/chart.tsx';
import { ExportMenu } from '../../answers/export-menu.tsx';
import { Headline } from '../../answers/headline.tsx';
import { imageOf } from '../../answers/image.ts';
import type { Plot } from '../../answers/plot.ts';
import { fieldsOf, type Question } from '../../answers/question.ts';
import { nameOfSeries, type Point, type Series } from '../../answers/series.ts';
import {
  AnswerTable,
  actorsQuery,
  SeriesTable,
  seriesInTotal,
  seriesOverTime,
  TimeTable,
} from '../../answers/tables.tsx';
import { text as answers } from '../../answers/words.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { NumberFormatButton } from './number-format.tsx';
import { chartTypesOf, isKind, withChartType } from './question.ts';
import type { ShownAnswer } from './view.ts';
import { text } from './words.ts';
import { useZoom, type Zoom } from './zoom.ts';

interface PaneProps {
  question: Question;
  answer: ShownAnswer;
  onQuestion: (question: Question) => void;
  onAgain: () => void;
  onPersons: (point: Point) => void;
}

/** The result of the query. The previous result stays visible, greyed out, until the next one arrives. */
export function AnswerPane({ question, answer, onQuestion, onAgain, onPersons }: PaneProps) {
  const zoom = useZoom(question, onQuestion);
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
            zoom={zoom}
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
  zoom,
}: Pick<PaneProps, 'question' | 'onQuestion' | 'onAgain' | 'onPersons'> & {
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
  const overTime = isKind(question.kind) ? seriesOverTime(question, results) : null;
  const totals = overTime === null ? seriesInTotal(question, results) : null;
  const image = async () => {
    if (shown.current === null) throw new Error('No chart is shown.');
    return imageOf(shown.current);
  };
  const { chartTypes, chosen } = chartTypesOf(question);
  const choose = (chartType: string) => {
    setTable(chartType === 'table');
    const next = withChartType(question, chartType);
    if (next !== question) onQuestion(next);
  };
  return (
    <>
      <div className="insight-head">
        {overTime && <Headline series={overTime} question={question} />}
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
        {question.kind === 'TrendsQuery' && <NumberFormatButton {...{ question, onQuestion }} />}
        <ExportMenu {...{ results, columns }} image={overTime && !isTable ? image : undefined} />
        <Button aria-label={text.refresh} onPress={onAgain}>
          ↻
        </Button>
      </div>
      {totals && <BigNumber series={totals} question={question} />}
      {overTime ? (
        <OverTime {...{ question, isTable, onPersons, zoom, shown }} series={overTime} />
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
  zoom,
  shown,
}: Pick<PaneProps, 'question' | 'onPersons'> & {
  series: readonly Series[];
  isTable: boolean;
  zoom: Zoom;
  shown: RefObject<Plot | null>;
}) {
  // The value of a formula does not correspond to a set of persons.
  const hasPersons = fieldsOf(question.trendsFilter).formula === undefined;
  const open = (one: Series, at: number) => {
    const day = one.days[at] ?? '';
    onPersons({ name: answers.personsAt(nameOfSeries(one), day), source: actorsQuery(question, one, day) });
  };
  const onPoint = hasPersons ? open : undefined;
  if (isTable) return <TimeTable {...{ series, question, onPoint }} />;
  return (
    <>
      <SeriesChart {...{ series, question, onPoint, shown, ...zoom }} />
      {question.kind === 'FunnelsQuery' ? (
        <TimeTable {...{ series, question, onPoint }} />
      ) : (
        <SeriesTable question={question} series={series} />
      )}
    </>
  );
}
