// The Events page, where users search the stored events and open them.

import { useRef, useState } from 'react';
import { useEventJson } from '../../event-detail/event-detail.tsx';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { usePageKeys } from '../../parts/keys.ts';
import { RefreshButton } from '../../parts/refresh.tsx';
import { SpanMenu } from '../../parts/span.tsx';
import { words } from '../../words.ts';
import { ColumnsDialog } from './columns.tsx';
import { CsvButton } from './csv.tsx';
import { DetailPane } from './detail.tsx';
import { createChips, FilterDialog, NameSearch, searchId } from './filters.tsx';
import { ListPane } from './list-pane.tsx';
import { isLongScan } from './slow.tsx';
import { type EventsView, useEventsView } from './view.ts';
import { text } from './words.ts';
import './events.css';

export function Page() {
  const shown = useEventsView();
  const { view, list, counts, request, unknown, scanned, span } = shown;
  const project = useProject();
  const detail = useEventJson(view.open);
  const panel = useRef<HTMLDivElement>(null);
  const moves = useMoves(shown, panel);
  usePageKeys(moves.keys);
  const [isCallShown, setCallShown] = useState(false);
  return (
    <>
      <PageTitle
        title={words.pages.events.title}
        now={counts.data && <span className="pill">{text.total(counts.data.total)}</span>}
      >
        <CsvButton request={request} columns={view.columns} />
        <Button onPress={() => setCallShown(true)}>{words.asApiCall}</Button>
        <RefreshButton
          keys={[
            ['events', project.id],
            ['event counts', project.id],
            ['future events', project.id],
          ]}
        />
      </PageTitle>
      <FilterLine shown={shown} />
      <AddressHint unknown={unknown} />
      {isLongScan(scanned, span) && !list.error && <p className="hint">{text.walks}</p>}
      <div className="panel list-detail" ref={panel} {...(view.open !== '' && { 'data-open': '' })}>
        <ListPane shown={shown} onPrevious={moves.previous} onNext={moves.next} />
        {view.open !== '' && <DetailPane shown={shown} detail={detail} onClose={moves.close} />}
      </div>
      {isCallShown && <AsApiCall request={request} onClose={() => setCallShown(false)} />}
    </>
  );
}

function FilterLine({ shown }: { shown: EventsView }) {
  const { view, change, narrow, properties, span } = shown;
  const project = useProject();
  const [dialog, setDialog] = useState<'filter' | 'columns' | null>(null);
  return (
    <>
      <FilterBar
        chips={createChips(view, properties, narrow)}
        search={
          <NameSearch
            value={view.search}
            onSearch={shown.search}
            onEvent={(event) => change({ event, search: '', cursor: '' })}
            onUuid={(open) => change({ open, search: '' })}
          />
        }
      >
        <Button onPress={() => setDialog('filter')}>{text.addFilter}</Button>
        <Button onPress={() => setDialog('columns')}>{text.columns}</Button>
        <SpanMenu
          span={span}
          zone={view.zone}
          zoneOfProject={project.timezone}
          presets={Object.keys(words.span.presets)}
          onSpan={narrow}
          onZone={(zone) => change({ zone })}
        />
      </FilterBar>
      {dialog === 'filter' && (
        <FilterDialog
          properties={properties}
          onFilters={(changed) => {
            setDialog(null);
            narrow(changed);
          }}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'columns' && (
        <ColumnsDialog
          columns={view.columns}
          onColumns={(columns) => change({ columns }, { replace: true })}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

/** Returns the functions for moving between events and pages with buttons and keyboard shortcuts. */
function useMoves({ view, change, list, next }: EventsView, panel: { current: HTMLDivElement | null }) {
  /** For the cursor of each page that was opened with "Next", the cursor of its previous page. */
  const pagesBefore = useRef(new Map<string, string>());
  const events = list.data?.results ?? [];
  const rowOf = (uuid: string) => panel.current?.querySelector<HTMLElement>(`[data-row="${uuid}"]`);
  const toNext = () => {
    if (next === undefined) return;
    pagesBefore.current.set(next, view.cursor);
    change({ cursor: next });
  };
  const toPrevious = () => {
    if (view.cursor !== '') change({ cursor: pagesBefore.current.get(view.cursor) ?? '' });
  };
  const close = () => {
    const { open } = view;
    change({ open: '', tab: 'properties' });
    // On phones, the row is hidden until the details have closed, so wait for the next frame.
    requestAnimationFrame(() => rowOf(open)?.focus());
  };
  const step = (by: 1 | -1) => {
    const current = view.open || document.activeElement?.getAttribute('data-row');
    const at = events.findIndex(({ uuid }) => uuid === current);
    const other = events[at === -1 ? 0 : at + by];
    if (other === undefined) return;
    if (view.open === '') rowOf(other.uuid)?.focus();
    else change({ open: other.uuid }, { replace: true });
  };
  const keys: Record<string, () => void> = {
    j: () => step(1),
    k: () => step(-1),
    n: toNext,
    p: toPrevious,
    r: () => change({ tab: view.tab === 'raw' ? 'properties' : 'raw' }, { replace: true }),
    '/': () => document.getElementById(searchId)?.focus(),
    ...(view.open !== '' && { Escape: close }),
  };
  return { keys, next: toNext, previous: toPrevious, close };
}
