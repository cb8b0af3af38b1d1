// The Live events page, where users watch events as they arrive and see why events are dropped or changed.

import { useQuery } from '@tanstack/react-query';
import { memo, useDeferredValue, useMemo, useRef, useState } from 'react';
import { ApiProblem, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { part, useUrlState } from '../../parts/address.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { usePageKeys } from '../../parts/keys.ts';
import { formatPropertyName } from '../../parts/properties.ts';
import { Search } from '../../parts/search.tsx';
import { EmptyState, ErrorState, explainError } from '../../parts/states.tsx';
import { formatNumber, words } from '../../words.ts';
import { type Filter, LiveEventDetail } from './detail.tsx';
import { useEarlierEvents, useMergedRows } from './earlier.ts';
import { FirstEvent } from './first-event.tsx';
import { LiveEventList } from './list.tsx';
import type { LiveMessage } from './messages.ts';
import { LiveTiles, useLastMinuteCounts } from './tiles.tsx';
import { type Live, type Row, useLiveEvents } from './use-live.ts';
import { text } from './words.ts';
import './live.css';

const parts = {
  event: part.list(),
  without: part.list(),
  person: part.text(),
  properties: part.list(),
  paused: part.flag(),
  open: part.text(),
};

export function Page() {
  const { id } = useProject();
  const { view, change, unknown } = useUrlState(parts);
  const path = `/api/projects/${id}/live/events`;
  const query = {
    eventType: view.event.join(','),
    notEventType: view.without.join(','),
    distinctId: view.person,
    properties: view.properties.length === 0 ? '' : `[${view.properties.join(',')}]`,
  };
  const live = useLiveEvents(path, query, view.paused);
  const [asCall, setAsCall] = useState(false);
  const streamed = useDeferredValue(live.rows);
  const earlier = useEarlierEvents(view, live.state);
  const all = useMergedRows(streamed, earlier.data);
  const [searchText, setSearchText] = useState('');
  const rows = useMemo(() => all.filter(({ message }) => hasName(message, searchText)), [all, searchText]);
  const { row: open, uuid: openUuid, onOpen } = useOpen(rows, view.open, change);
  const hasFilter = Object.values(query).some((value) => value !== '');
  const isNarrowed = hasFilter || searchText !== '';
  const isFirst = useIsFirst(id, all.length > 0);
  const togglePause = () => change({ paused: !view.paused }, { replace: true });
  usePageKeys({ ' ': togglePause });
  // Render the details with low priority, because their many menus take long to render and must not delay the next key
  // press.
  const details = useDeferredValue(useMemo(() => ({ row: open, uuid: openUuid }), [open, openUuid]));
  const { filter, onClose } = useActions({ view, change, onOpen });
  if (isFirst && !hasFilter && live.state.kind !== 'failed') {
    return (
      <>
        <PageTitle title={words.pages.live.title} />
        <FirstEvent />
      </>
    );
  }
  return (
    <>
      <PageTitle title={words.pages.live.title} now={<Rate rows={streamed} />}>
        <Button shortcut={text.space} onPress={togglePause}>
          {view.paused ? text.goOn(live.waiting) : text.pause}
        </Button>
      </PageTitle>
      <LiveTiles rows={all} streamed={streamed} />
      <FilterBar
        chips={chipsOf(view, change)}
        search={
          <EventSearch
            value={searchText}
            onSearch={setSearchText}
            onFind={(name) => {
              const isName = all.some(({ message }) => message.event === name);
              if (isName) filter.only('event', name);
              setSearchText(isName ? '' : name);
              return isName ? '' : name;
            }}
          />
        }
      >
        <Button onPress={() => setAsCall(true)}>{words.asApiCall}</Button>
      </FilterBar>
      <AddressHint unknown={unknown} />
      <StreamLine live={live} problem={earlier.error && `${text.noEarlier} ${explainError(earlier.error)}`} />
      <div className="panel list-detail" {...((open || openUuid !== null) && { 'data-open': '' })}>
        {live.state.kind === 'failed' ? (
          <ErrorState
            what={text.stream}
            error={new ApiProblem(live.state.status, live.state.body, new Headers())}
            onAgain={() => location.reload()}
          />
        ) : rows.length === 0 ? (
          <EmptyState title={isNarrowed ? text.noneFiltered : text.none} icon="live">
            <p className="quiet">{isNarrowed ? text.noneFilteredText : text.noneText}</p>
          </EmptyState>
        ) : (
          <LiveEventList rows={rows} open={open} onOpen={onOpen} onPause={togglePause} />
        )}
        {(details.row || details.uuid !== null) && (
          <MemoDetail
            key={details.row?.key ?? details.uuid}
            uuid={details.uuid}
            message={details.row?.message ?? null}
            filter={filter}
            onClose={onClose}
          />
        )}
      </div>
      {asCall && <AsApiCall request={{ path, query }} onClose={() => setAsCall(false)} />}
    </>
  );
}

type View = ReturnType<typeof useUrlState<typeof parts>>['view'];
type Change = ReturnType<typeof useUrlState<typeof parts>>['change'];

/**
 * Manages the open event. Its UUID is stored in the URL, so that other browsers can open the event even if their lists
 * do not contain it. An event that was dropped before it received a UUID can be open only in this tab.
 */
function useOpen(rows: readonly Row[], uuid: string, change: Change) {
  const [chosen, setChosen] = useState<Row | null>(null);
  const isOpenRow = (row: Row | null) => (row?.message.uuid ?? '') === uuid;
  const row = isOpenRow(chosen) ? chosen : uuid === '' ? null : (rows.find(isOpenRow) ?? null);
  const onOpen = (next: Row | null) => {
    setChosen(next);
    const nextUuid = next?.message.uuid ?? '';
    // When the user moves to another event, replace the history entry, so that Back closes the details.
    if (nextUuid !== uuid) change({ open: nextUuid }, { replace: uuid !== '' && nextUuid !== '' });
  };
  return { row, uuid: uuid === '' ? null : uuid, onOpen };
}

const MemoDetail = memo(LiveEventDetail);

/**
 * Returns the actions for a row. The functions remain the same on every render, so that memoized rows are not rendered
 * again.
 */
function useActions(now: { view: View; change: Change; onOpen: (row: Row | null) => void }) {
  const newest = useRef(now);
  newest.current = now;
  const [actions] = useState(() => {
    const change = (changed: (view: View) => Parameters<Change>[0]) =>
      newest.current.change(changed(newest.current.view));
    const filter: Filter = {
      only: (name, value) => change(() => (name === 'event' ? { event: [value] } : { person: value })),
      without: (value) => change(({ without }) => ({ without: [...without, value] })),
      property: (one) => change(({ properties }) => ({ properties: [...properties, JSON.stringify(one)] })),
    };
    return { filter, onClose: () => newest.current.onOpen(null) };
  });
  return actions;
}

function chipsOf(view: View, change: Change) {
  const without = (list: readonly string[], one: string) => list.filter((other) => other !== one);
  const person = { key: 'person', name: text.person, value: view.person, remove: () => change({ person: '' }) };
  return [
    ...view.event.map((value) => ({
      key: `event ${value}`,
      name: text.event,
      value,
      remove: () => change({ event: without(view.event, value) }),
    })),
    ...view.without.map((value) => ({
      key: `without ${value}`,
      name: text.event,
      relation: text.not,
      value,
      remove: () => change({ without: without(view.without, value) }),
    })),
    ...(view.person === '' ? [] : [person]),
    ...view.properties.map((written) => ({
      key: written,
      ...readProperty(written),
      remove: () => change({ properties: without(view.properties, written) }),
    })),
  ];
}

/** Parses a property filter in the URL. The filter may be invalid. */
function readProperty(written: string): { name: string; relation: string; value: string } {
  try {
    const { key, operator, value } = JSON.parse(written) as Record<string, unknown>;
    const relation = operator === 'is_not' ? text.not : String(operator ?? '');
    return {
      name: escapeInvisible(formatPropertyName(String(key))),
      relation: relation === 'exact' ? '' : relation,
      value: String(value),
    };
  } catch {
    return { name: written, relation: '', value: '' };
  }
}

/** Returns whether the project has never stored an event. Checks only once, because the stream reports new events. */
function useIsFirst(id: number, hasRows: boolean): boolean {
  const any = useQuery({
    queryKey: ['any-event', id],
    queryFn: ({ signal }) =>
      call<{ results: unknown[] }>({ path: `/api/projects/${id}/events`, query: { limit: 1 } }, signal),
    enabled: !hasRows,
  });
  return !hasRows && any.data?.results.length === 0;
}

/** Shows the rate of all stored events, even if the list has filters. */
function Rate({ rows }: { rows: readonly Row[] }) {
  const stored = useLastMinuteCounts(rows)?.stored;
  if (stored === undefined) return null;
  const rate = stored / 60;
  return (
    <span className="pill">
      <span className={rate > 0 ? 'dot good' : 'dot'} />
      {text.perSecond(rate)}
    </span>
  );
}

/** Shows the stream's status in one line. Renders nothing while the stream works normally. */
function StreamLine({
  live: { state, why, trouble, missed, wasAway, share },
  problem,
}: {
  live: Live;
  problem: string | null;
}) {
  const messages = [
    problem,
    state.kind === 'waiting' && text.cut(state.seconds),
    state.kind === 'crowded' && text.crowded,
    why,
    trouble,
    missed > 0 && text.missed(formatNumber(missed)),
    wasAway && text.away,
    share < 1 && text.share(Math.round(share * 100)),
  ].filter((one) => typeof one === 'string' && one !== '');
  if (messages.length === 0) return null;
  return (
    <p className="health-line" role="status">
      {messages.join(' ')}
    </p>
  );
}

const searchId = 'live-search';

/**
 * A search field that filters the list by a substring of the event name while the user types. Pressing Enter filters
 * the stream by the complete event name.
 */
function EventSearch({
  value,
  onSearch,
  onFind,
}: {
  value: string;
  onSearch: (part: string) => void;
  onFind: (name: string) => string;
}) {
  usePageKeys({ '/': () => document.getElementById(searchId)?.focus() });
  return <Search id={searchId} value={value} label={text.search} shortcut="/" onSearch={onSearch} onEnter={onFind} />;
}

const hasName = ({ event }: LiveMessage, part: string) =>
  part === '' || (event ?? '').toLowerCase().includes(part.trim().toLowerCase());
