import { lazy, type ReactNode, type RefObject, Suspense } from 'react';
import { visible } from '../../event-detail/json-text.ts';
import { type DateRange, DayFields, keyOfRange, rangeOfOption, rangeOptions } from '../../filters/date-range.tsx';
import { loadPart } from '../../frame/broken.tsx';
import { Button } from '../../parts/button.tsx';
import { Choice } from '../../parts/choice.tsx';
import { explain } from '../../parts/states.tsx';
import { fieldsOf } from '../../results/insight-query.ts';
import { type SqlNode, usesFilters } from '../../sql/node.ts';
import { words } from '../../words.ts';
import type { Edits } from './address.ts';
import { type Problem, useCheck } from './check.ts';
import { useKnown } from './known.ts';
import type { useRun } from './run.ts';
import { text } from './words.ts';

/** Loaded separately, because the editor is larger than the rest of the page. */
const SqlEditor = lazy(loadPart(() => import('./editor/sql-editor.tsx').then((part) => ({ default: part.SqlEditor }))));

/** The query, its problems, and the buttons that run it. */
export function EditorPanel({
  edits: { node, version, edit },
  runner,
  focus,
  children,
}: {
  edits: Edits;
  runner: ReturnType<typeof useRun>;
  /** Receives the function that moves the focus to the editor. */
  focus: RefObject<(() => void) | null>;
  /** Further buttons. */
  children?: ReactNode;
}) {
  const problems = useCheck(node.source);
  const known = useKnown();
  const isEmpty = node.source.query.trim() === '';
  const run = () => !isEmpty && runner.run(node, 'force_blocking');
  return (
    <>
      <div className="sql-editor" translate="no">
        <Suspense fallback={<p className="waiting">{words.states.loading}</p>}>
          <SqlEditor
            content={{ text: node.source.query, version }}
            marks={problems}
            known={known}
            focus={focus}
            onText={(query) => edit({ ...node, source: { ...node.source, query } }, { isTyped: true })}
            onRun={run}
          />
        </Suspense>
      </div>
      <Problems problems={problems} />
      <div className="sql-bar">
        <Button look="main" shortcut="Ctrl+↵" isDisabled={isEmpty || runner.isRunning} onPress={run}>
          {text.run}
        </Button>
        {runner.isRunning && <Button onPress={runner.cancel}>{text.cancel}</Button>}
        {usesFilters(node) && <DateFields node={node} onNode={edit} />}
        <span className="quiet" role="status">
          {runner.isRunning ? text.running : runner.isCanceled ? text.canceled : ''}
        </span>
        <span className="grow" />
        {children}
      </div>
      {runner.error && <RunProblem error={runner.error} isChecked={problems.length > 0} />}
    </>
  );
}

/** The same as the marks in the editor, in words. */
function Problems({ problems }: { problems: readonly Problem[] }) {
  return (
    <div className="sql-problems" role="status">
      {problems.map(({ message, place }) => (
        <p key={message} className="bad">
          {place === null ? visible(message) : text.problemAt(place.line, place.column, visible(message))}
        </p>
      ))}
    </div>
  );
}

/** @param isChecked whether the problem is shown with its place already */
function RunProblem({ error, isChecked }: { error: unknown; isChecked: boolean }) {
  return (
    <p className="sql-failed bad" role="alert">
      {isChecked ? text.failed : `${text.failed} ${explain(error)}`}
    </p>
  );
}

/** The dates of `{filters}`. */
function DateFields({ node, onNode }: { node: SqlNode; onNode: (node: SqlNode) => void }) {
  const { source } = node;
  const filters = fieldsOf(source.filters);
  const range: DateRange = fieldsOf(filters.dateRange);
  const { value, options } = rangeOptions(range);
  const set = (dateRange: DateRange | undefined) =>
    onNode({ ...node, source: { ...source, filters: { ...filters, dateRange } } });
  return (
    <>
      <Choice
        name={words.span.time}
        value={value}
        options={{ '': text.allDates, ...options }}
        onChoose={(chosen) => set(chosen === '' ? undefined : rangeOfOption(chosen))}
      />
      <DayFields range={keyOfRange(range) === '' ? {} : range} onRange={set} />
    </>
  );
}
