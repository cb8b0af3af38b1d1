// The insight builder: a query form next to the query's result.

import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint } from '../../parts/filter-bar.tsx';
import { explainError } from '../../parts/states.tsx';
import { useRecordChange } from '../../records/change.ts';
import type { OfferUndo } from '../../records/undo.ts';
import { ChartPlace } from '../../results/annotation.ts';
import { findSource, getInsightName, type InsightQuery, newInsightQuery } from '../../results/insight-query.ts';
import { type DialogOfInsight, InsightActions, InsightDialog } from './insight-actions.tsx';
import { PersonsDialog } from './persons.tsx';
import { findFormPart, readInsightQuery, wrapQuery } from './query.ts';
import { QueryForm } from './query-form.tsx';
import { ResultPane } from './result.tsx';
import { suggestName } from './suggested-name.ts';
import {
  createQueryCall,
  type Insight,
  type InsightsUrlState,
  insightDrafts,
  type ShownResult,
  useQueryResult,
} from './view.ts';
import { text } from './words.ts';

export interface BuilderProps {
  stored: Insight | null;
  address: InsightsUrlState;
  notice: ReactNode;
  offerUndo: OfferUndo;
}

/** Edits to the query are stored in the URL and as a draft until the user saves or discards them. */
export function InsightBuilder({ stored, address, notice, offerUndo }: BuilderProps) {
  const { view, change, unknown } = address;
  const { id } = useProject();
  const { insightQuery, written, isChanged, edit, discard } = useEdits(stored, address);
  const [runs, setRuns] = useState(0);
  const { result, problem } = useQueryResult(insightQuery, runs);
  const [dialog, setDialog] = useState<DialogOfInsight | null>(null);
  const save = useRecordChange<Insight>((saved) => {
    queryClient.setQueryData(['insights', id, 'one', saved.short_id], saved);
    discard();
  });
  const toList = () => change({ insight: '', query: '', persons: '' });
  const state = stored === null ? text.unsaved : isChanged ? text.changed : text.saved;
  return (
    <>
      <PageTitle
        title={stored === null ? text.newTitle : getInsightName(stored)}
        about={escapeInvisible(stored?.description ?? '')}
        onRename={stored === null ? undefined : () => setDialog('details')}
        now={
          <span className="pill">
            {state}
            {result.data && ` · ${text.age(formatPast(result.data.last_refresh))}`}
          </span>
        }
      >
        <Button onPress={toList}>{text.toList}</Button>
        <AsApiCallButton request={createQueryCall(id, insightQuery)} />
        {isChanged && <Button onPress={discard}>{text.discard}</Button>}
        <Button
          look="main"
          onPress={() =>
            stored === null
              ? setDialog('save')
              : save.mutate({
                  method: 'PATCH',
                  path: `/api/projects/${id}/insights/${stored.id}`,
                  body: { query: wrapQuery(stored, insightQuery), saved: true },
                })
          }
          isDisabled={save.isPending || (stored !== null && !isChanged)}
        >
          {text.save}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      {notice}
      {view.query !== '' && written === null && (
        <p className="health-line" role="status">
          {text.badAddress}
        </p>
      )}
      {save.error && (
        <p className="health-line" role="alert">
          {explainError(save.error)}
        </p>
      )}
      <div className="panel insight">
        <div className="insight-form">
          <QueryForm
            insightQuery={insightQuery}
            problem={{ part: findFormPart(problem), detail: problem }}
            onQuery={edit}
          />
          {stored !== null && <InsightActions {...{ stored, offerUndo }} onDialog={setDialog} />}
        </div>
        <ChartPlace value={{ insight: stored?.id }}>
          <Result {...{ address, insightQuery, result }} onQuery={edit} onAgain={() => setRuns(runs + 1)} />
        </ChartPlace>
      </div>
      {dialog !== null && (
        <InsightDialog
          {...{ dialog, stored, offerUndo }}
          query={wrapQuery(stored, insightQuery)}
          suggestion={suggestName(insightQuery)}
          onSaved={(saved) => {
            setDialog(null);
            if (dialog === 'details') return;
            insightDrafts.keep(id, 'new', null);
            change({ insight: saved.short_id, query: '' });
          }}
          onRemoved={() => {
            discard();
            toList();
          }}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

/** Returns the query to edit: the query in the URL, or else the unsaved draft, or else the saved query. */
function useEdits(stored: Insight | null, { view, change }: InsightsUrlState) {
  const { id } = useProject();
  const name = stored?.short_id ?? 'new';
  const draft = insightDrafts.use(id).get(name) ?? '';
  const savedQuery = stored === null ? newInsightQuery : (findSource(stored.query) ?? newInsightQuery);
  const written = readInsightQuery(view.query);
  const insightQuery = written ?? readInsightQuery(draft) ?? savedQuery;
  const isDrafted = view.query === '' && draft !== '';
  // Copies a draft to the URL, so that users can reload the page or share the URL.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `change` is a new function on every render
  useEffect(() => {
    if (isDrafted) change({ query: draft }, { replace: true });
  }, [isDrafted, draft]);
  const isSame = (one: InsightQuery) => JSON.stringify(one) === JSON.stringify(savedQuery);
  return {
    insightQuery,
    written,
    isChanged: !isSame(insightQuery),
    edit(next: InsightQuery) {
      insightDrafts.keep(id, name, isSame(next) ? null : JSON.stringify(next));
      change({ query: JSON.stringify(next), persons: '' }, { replace: true });
    },
    discard() {
      insightDrafts.keep(id, name, null);
      change({ query: '', persons: '' }, { replace: true });
    },
  };
}

function Result({
  address: { view, change },
  insightQuery,
  result,
  onQuery,
  onAgain,
}: {
  address: InsightsUrlState;
  insightQuery: InsightQuery;
  result: ShownResult;
  onQuery: (insightQuery: InsightQuery) => void;
  onAgain: () => void;
}) {
  const { history } = useRouter();
  const isOpenedHere = useRef(false);
  const shownQuery = result.data?.insightQuery ?? insightQuery;
  /** Applies a chart change to the query in the form, which may differ from the visible chart's query. */
  const changeChart = (next: InsightQuery) => {
    const isChanged = (name: string) => JSON.stringify(next[name]) !== JSON.stringify(shownQuery[name]);
    onQuery({ ...insightQuery, ...Object.fromEntries(Object.entries(next).filter(([name]) => isChanged(name))) });
  };
  return (
    <>
      <ResultPane
        insightQuery={shownQuery}
        result={result}
        onQuery={changeChart}
        onAgain={onAgain}
        onPersons={(point) => {
          isOpenedHere.current = true;
          change({ persons: JSON.stringify(point) });
        }}
      />
      {view.persons !== '' && (
        <PersonsDialog
          point={view.persons}
          onClose={() => {
            // Opening the dialog added a history entry. Remove it, so that Back does not open the dialog again.
            if (isOpenedHere.current) history.back();
            else change({ persons: '' }, { replace: true });
            isOpenedHere.current = false;
          }}
        />
      )}
    </>
  );
}
