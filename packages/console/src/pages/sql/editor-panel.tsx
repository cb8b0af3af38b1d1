// The SQL editor, the query's problems, and the buttons for running the query.

import { lazy, type ReactNode, type RefObject, Suspense, useState } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import {
  type DateRange,
  DayFields,
  listRangeOptions,
  parseRangeOption,
  toRangeKey,
} from '../../filters/date-range.tsx';
import { loadPageCode } from '../../frame/broken.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { explainError } from '../../parts/states.tsx';
import { toFields } from '../../results/insight-query.ts';
import { findVariableNames, type SqlNode, usesFilters } from '../../sql/node.ts';
import { words } from '../../words.ts';
import type { Edits } from './address.ts';
import { type Problem, useQueryCheck } from './check.ts';
import type { EditorHandle } from './editor/sql-editor.tsx';
import { useNameLoaders } from './name-loaders.ts';
import { RecentQueries, useRecentQueries } from './recent.tsx';
import type { useQueryRun } from './run.ts';
import { VariableBar } from './variable-bar.tsx';
import { type OpenVariables, VariablesDialog } from './variables-dialog.tsx';
import { text } from './words.ts';

/** The editor's code is loaded separately, because it is larger than the other code of the page. */
const SqlEditor = lazy(
  loadPageCode(() => import('./editor/sql-editor.tsx').then((part) => ({ default: part.SqlEditor }))),
);

export function EditorPanel({
  edits: { node, version, edit },
  runner,
  editor,
  children,
}: {
  edits: Edits;
  runner: ReturnType<typeof useQueryRun>;
  editor: RefObject<EditorHandle | null>;
  children?: ReactNode;
}) {
  const { problems, variable } = useQueryCheck(node.source);
  const [dialog, setDialog] = useState<OpenVariables | null>(null);
  const recent = useRecentQueries();
  const nameLoaders = useNameLoaders();
  const isEmpty = node.source.query.trim() === '';
  const run = () => {
    if (isEmpty) return;
    recent.keep(node.source);
    runner.run(node, 'force_blocking');
  };
  // If the query no longer contains the rejected variable, no variable field can show the error, so show it here.
  const hasField = variable !== null && findVariableNames(node.source.query).includes(variable.name);
  const shown = variable === null || hasField ? problems : [problemOfQuery(variable.message)];
  return (
    <>
      <div className="sql-editor" translate="no">
        <Suspense fallback={<p className="waiting">{words.states.loading}</p>}>
          <SqlEditor
            content={{ text: node.source.query, version }}
            marks={problems}
            nameLoaders={nameLoaders}
            handle={editor}
            onText={(query) => edit({ ...node, source: { ...node.source, query } }, { isTyped: true })}
            onRun={run}
          />
        </Suspense>
      </div>
      <Problems problems={shown} />
      <div className="sql-bar">
        <Button look="main" shortcut="Ctrl+↵" isDisabled={isEmpty || runner.isRunning} onPress={run}>
          {text.run}
        </Button>
        {runner.isRunning && <Button onPress={runner.cancel}>{text.cancel}</Button>}
        {usesFilters(node) && <DateFields node={node} onNode={edit} />}
        <Button onPress={() => setDialog('list')}>{text.variables.open}</Button>
        <RecentQueries queries={recent.queries} onChoose={(source) => edit({ ...node, source })} />
        <span className="quiet" role="status">
          {runner.isRunning ? text.running : runner.isCanceled ? text.canceled : ''}
        </span>
        <span className="grow" />
        {children}
      </div>
      <VariableBar node={node} problem={variable} onNode={edit} onRun={run} onOpen={setDialog} />
      {runner.error && (
        <RunProblem error={runner.error} isChecked={hasField || shown.some(({ severity }) => severity === 'error')} />
      )}
      {dialog !== null && (
        <VariablesDialog open={dialog} onOpen={setDialog} onInsert={(inserted) => editor.current?.insert(inserted)} />
      )}
    </>
  );
}

function Problems({ problems }: { problems: readonly Problem[] }) {
  return (
    <div className="sql-problems" role="status">
      {problems.map((problem) => (
        <p key={`${problem.from} ${problem.message}`} data-severity={problem.severity}>
          {sentenceOf(problem)}
        </p>
      ))}
    </div>
  );
}

const problemOfQuery = (message: string): Problem => ({ from: 0, to: 0, severity: 'error', message, place: null });

function sentenceOf({ severity, message, place }: Problem): string {
  const { plain, at } = sentences[severity];
  return place === null ? plain(escapeInvisible(message)) : at(place.line, place.column, escapeInvisible(message));
}

const sentences = {
  error: { plain: (message: string) => message, at: text.problemAt },
  warning: { plain: text.warning, at: text.warningAt },
  info: { plain: text.notice, at: text.noticeAt },
};

/** Shows why a query could not run. @param isChecked whether the editor already shows the problem */
function RunProblem({ error, isChecked }: { error: unknown; isChecked: boolean }) {
  return (
    <p className="sql-failed bad" role="alert">
      {isChecked ? text.failed : `${text.failed} ${explainError(error)}`}
    </p>
  );
}

function DateFields({ node, onNode }: { node: SqlNode; onNode: (node: SqlNode) => void }) {
  const { source } = node;
  const filters = toFields(source.filters);
  const range: DateRange = toFields(filters.dateRange);
  const { value, options } = listRangeOptions(range);
  const set = (dateRange: DateRange | undefined) =>
    onNode({ ...node, source: { ...source, filters: { ...filters, dateRange } } });
  return (
    <>
      <SelectFilter
        name={words.span.time}
        value={value}
        options={{ '': text.allDates, ...options }}
        onChoose={(chosen) => set(chosen === '' ? undefined : parseRangeOption(chosen))}
      />
      <DayFields range={toRangeKey(range) === '' ? {} : range} onRange={set} />
    </>
  );
}
