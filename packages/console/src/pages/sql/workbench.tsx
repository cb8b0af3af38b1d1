import { useEffect, useRef, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint } from '../../parts/filter-bar.tsx';
import { NoticeLine } from '../../parts/notice.tsx';
import { EmptyState, explainError } from '../../parts/states.tsx';
import { useRecordChange } from '../../records/change.ts';
import type { useUndo } from '../../records/undo.ts';
import { getInsightName } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import { type DialogOfInsight, InsightActions, InsightDialog } from '../insights/insight-actions.tsx';
import type { Insight } from '../insights/view.ts';
import { forgetDraft, type SqlUrlState, useQueryEdits } from './address.ts';
import type { EditorHandle } from './editor/sql-editor.tsx';
import { EditorPanel } from './editor-panel.tsx';
import { examples } from './examples.ts';
import { ResultPane } from './result-pane.tsx';
import { createRunCall, useQueryRun } from './run.ts';
import { text } from './words.ts';

/** Shows an SQL query in the editor, with its result below. */
export function Workbench({
  stored,
  address,
  undo: { notice, offerUndo, clear },
}: {
  /** The insight whose query is edited. Null for a new query. */
  stored: Insight | null;
  address: SqlUrlState;
  undo: ReturnType<typeof useUndo>;
}) {
  const { id } = useProject();
  const edits = useQueryEdits(stored, address);
  const { node, edit } = edits;
  const runner = useQueryRun();
  const editor = useRef<EditorHandle>(null);
  const [dialog, setDialog] = useState<DialogOfInsight | null>(null);
  const save = useRecordChange<Insight>((saved) => {
    queryClient.setQueryData(['insights', id, 'one', saved.short_id], saved);
    forgetDraft(id, saved.short_id);
  });
  const isEmpty = node.source.query.trim() === '';
  // Run a saved query when the page opens. The result may come from the cache.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the insight opens
  useEffect(() => {
    if (stored !== null && !isEmpty) runner.run(node, 'blocking');
  }, []);
  const { completed } = runner;
  const toNew = () => address.change({ insight: '', query: '' });
  return (
    <>
      <PageTitle
        title={stored === null ? words.pages.sql.title : getInsightName(stored)}
        about={escapeInvisible(stored?.description ?? '')}
        onRename={stored === null ? undefined : () => setDialog('details')}
        now={<State {...{ stored, edits }} refreshed={completed?.response.last_refresh} />}
      >
        {stored !== null && <Button onPress={toNew}>{text.newQuery}</Button>}
        {edits.isChanged && <Button onPress={edits.discard}>{text.discard}</Button>}
        {!isEmpty && <AsApiCallButton request={createRunCall(id, node)} />}
        <Button
          isDisabled={isEmpty || save.isPending || (stored !== null && !edits.isChanged)}
          onPress={() =>
            stored === null
              ? setDialog('save')
              : save.mutate({
                  method: 'PATCH',
                  path: `/api/projects/${id}/insights/${stored.id}`,
                  body: { query: node, saved: true },
                })
          }
        >
          {text.save}
        </Button>
      </PageTitle>
      <AddressHint unknown={address.unknown} />
      <NoticeLine notice={notice} onDone={clear} />
      {edits.isBadAddress && (
        <p className="health-line" role="status">
          {text.badAddress}
        </p>
      )}
      {save.error && (
        <p className="health-line" role="alert">
          {explainError(save.error)}
        </p>
      )}
      <div className="panel sql" aria-busy={runner.isRunning}>
        <EditorPanel {...{ edits, runner, editor }}>
          {stored !== null && <InsightActions {...{ stored, offerUndo }} onDialog={setDialog} />}
        </EditorPanel>
        {completed !== null && !runner.error && (
          <ResultPane completed={completed} node={node} isOld={runner.isRunning} onNode={edit} />
        )}
        {isEmpty && completed === null && (
          <Welcome
            onQuery={(query) => {
              edit({ ...node, source: { ...node.source, query } });
              editor.current?.focus();
            }}
          />
        )}
      </div>
      {dialog !== null && (
        <InsightDialog
          {...{ dialog, stored, offerUndo }}
          query={node}
          onSaved={(saved) => {
            setDialog(null);
            if (dialog === 'details') return;
            forgetDraft(id, 'new');
            address.change({ insight: saved.short_id, query: '' });
          }}
          onRemoved={() => {
            edits.discard();
            toNew();
          }}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

function State({
  stored,
  edits: { isChanged },
  refreshed,
}: {
  stored: Insight | null;
  edits: { isChanged: boolean };
  refreshed: string | undefined;
}) {
  const state = stored === null ? text.unsaved : isChanged ? text.changed : text.saved;
  return (
    <span className="pill">{refreshed === undefined ? state : `${state} · ${text.age(formatPast(refreshed))}`}</span>
  );
}

function Welcome({ onQuery }: { onQuery: (query: string) => void }) {
  return (
    <EmptyState title={text.welcome} icon="sql">
      <p className="quiet">{text.welcomeText}</p>
      <div className="form-buttons">
        {examples.map(({ title, query }) => (
          <Button key={title} onPress={() => onQuery(query)}>
            {title}
          </Button>
        ))}
      </div>
    </EmptyState>
  );
}
