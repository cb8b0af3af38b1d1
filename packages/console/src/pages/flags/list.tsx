// The list of feature flags. More rows are loaded while the user scrolls.

import { keepPreviousData, useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { usePageKeys } from '../../parts/keys.ts';
import type { Notice } from '../../parts/notice.tsx';
import { EmptyState, explainError, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { BulkBar, useSelection } from '../../records/bulk.tsx';
import type { OfferUndo } from '../../records/undo.ts';
import type { FlagsUrlState } from './address.ts';
import { EmptyFlags } from './empty.tsx';
import { computeRollout, type Drafts, type Flag, type KeyOf, type Page, summarizeFlag } from './flag.ts';
import { useFlagSuggestions } from './flag-suggestions.ts';
import { text } from './words.ts';

const pageSize = 100;
const rowHeight = 40;

export interface FlagSearch {
  /** The request for the first page. Further pages are loaded while the user scrolls. */
  request: ApiCall;
  count: number | undefined;
  first: ReturnType<typeof useQuery<Page<Flag>>>;
  queryOf: (page: number) => { queryKey: unknown[]; queryFn: (more: { signal: AbortSignal }) => Promise<Page<Flag>> };
  loaded: () => Flag[];
}

export function useFlagSearch({ search, state, tag, sort }: FlagsUrlState['view']): FlagSearch {
  const { id } = useProject();
  const filter = {
    search,
    ...(state === 'archived' ? { archived: 'true' } : state !== 'all' && { active: state }),
    ...(tag !== '' && { tags: JSON.stringify([tag]) }),
    ...(sort !== 'newest' && { order: sort }),
  };
  const requestOf = (page: number) => ({
    path: `/api/projects/${id}/feature_flags`,
    query: { ...filter, limit: pageSize, offset: page * pageSize },
  });
  const queryOf = (page: number) => ({
    queryKey: ['flags', id, 'list', filter, page],
    queryFn: ({ signal }: { signal: AbortSignal }) => call<Page<Flag>>(requestOf(page), signal),
  });
  // Keep the previous results visible until the new results arrive. Each filter has its own query key, so a late
  // response cannot appear under another filter.
  const first = useQuery({ ...queryOf(0), placeholderData: keepPreviousData });
  const loaded = () =>
    queryClient
      .getQueriesData<Page<Flag>>({ queryKey: ['flags', id, 'list', filter] })
      .flatMap(([, page]) => page?.results ?? []);
  return { request: requestOf(0), count: first.data?.count, first, queryOf, loaded };
}

interface ListProps {
  search: FlagSearch;
  openId: string;
  onOpen: (id: string) => void;
  drafts: Drafts;
  notify: (notice: Notice | null) => void;
  offerUndo: OfferUndo;
  address: FlagsUrlState;
}

export function FlagList({ search, address, ...others }: ListProps) {
  const { view, change } = address;
  const isNarrowed = view.search !== '' || view.state !== 'all' || view.tag !== '';
  return (
    <div className="list">
      <QueryContent query={search.first} what={text.what}>
        {({ count }) => {
          if (count > 0) return <Rows search={search} count={count} {...others} />;
          if (!isNarrowed)
            return <EmptyFlags onNew={() => others.onOpen('new')} onArchived={() => change({ state: 'archived' })} />;
          return (
            <EmptyState title={text.noMatchTitle} icon="flags">
              <p className="quiet">{text.noMatch}</p>
              <div className="form-buttons">
                <Button onPress={() => change({ search: '', state: 'all', tag: '' })}>{text.clearFilters}</Button>
              </div>
            </EmptyState>
          );
        }}
      </QueryContent>
    </div>
  );
}

/** Renders only the visible rows, and loads only their pages. */
function Rows({
  search,
  count,
  openId,
  onOpen,
  drafts,
  notify,
  offerUndo,
}: Omit<ListProps, 'address'> & { count: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const selection = useSelection(search.loaded());
  const { keyOf } = useFlagSuggestions();
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const seen = rows.getVirtualItems();
  const pages = [...new Set(seen.map(({ index }) => Math.floor(index / pageSize)))].filter((page) => page > 0);
  const loaded = useQueries({ queries: pages.map((page) => search.queryOf(page)) });
  const flagAt = (index: number): Flag | undefined => {
    const page = Math.floor(index / pageSize);
    const data = page === 0 ? search.first.data : loaded[pages.indexOf(page)]?.data;
    return data?.results[index % pageSize];
  };
  const { current, move } = useCurrentRow(count, rows.scrollToIndex, scroller);
  const openAt = search.first.data?.results.findIndex(({ id }) => String(id) === openId) ?? -1;
  useReturn(openId !== '', () => move(current), openAt < 0 ? undefined : () => move(openAt, false));
  usePageKeys({ j: () => move(current + 1), k: () => move(current - 1) });
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 12, PageUp: -12, Home: -count, End: count }[
      event.key
    ];
    if (step !== undefined) move(current + step);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <FlagBulkBar flags={selection.rows} offerUndo={offerUndo} onDone={selection.clear} />
      {/* biome-ignore lint/a11y/useSemanticElements: table rows cannot be positioned individually */}
      <div className="flag-table" role="table" aria-label={text.list} aria-rowcount={count + 1}>
        <Head />
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        <div className="flag-rows" role="rowgroup" ref={scroller} onKeyDown={press}>
          <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
            {seen.map(({ index, start }) => (
              <Row
                key={index}
                {...{ index, start, openId, onOpen, drafts, notify, keyOf, selection }}
                flag={flagAt(index)}
                isCurrent={index === current}
                onFocus={() => move(index, false)}
              />
            ))}
          </div>
        </div>
      </div>
    </>
  );
}

function Head() {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as for the table
    // biome-ignore lint/a11y/useFocusableInteractive: the controls inside the row take the focus
    <div className="flag-row flag-head" role="row" aria-rowindex={1}>
      {Object.entries(text.columns).map(([name, label]) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <span key={name} role="columnheader" className={`flag-col-${name}`}>
          <span className={name === 'choose' ? 'only-heard' : undefined}>{label}</span>
        </span>
      ))}
    </div>
  );
}

function FlagBulkBar({
  flags,
  offerUndo,
  onDone,
}: {
  flags: readonly Flag[];
  offerUndo: OfferUndo;
  onDone: () => void;
}) {
  const { id } = useProject();
  const asBefore = ({ active, archived }: Flag) => ({ active, archived });
  const actions = [
    { name: text.bulk.enable, body: { active: true }, done: text.bulk.enabled },
    { name: text.bulk.disable, body: { active: false }, done: text.bulk.disabled },
    { name: text.bulk.archive, body: { active: false, archived: true }, done: text.bulk.archived },
  ].map((action) => ({ ...action, undo: asBefore }));
  return (
    <BulkBar
      rows={flags}
      path={(flag) => `/api/projects/${id}/feature_flags/${flag.id}`}
      // Archived flags cannot be enabled or disabled.
      actions={flags.some(({ archived }) => archived) ? [] : actions}
      restore={() => ({ deleted: false })}
      offerUndo={offerUndo}
      onDone={onDone}
    />
  );
}

function useReturn(isOpen: boolean, toCurrent: () => void, makeCurrent: (() => void) | undefined) {
  const wasOpen = useRef(false);
  const isKnown = makeCurrent !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when a flag is opened or closed
  useEffect(() => {
    if (isOpen) makeCurrent?.();
    else if (wasOpen.current) toCurrent();
    wasOpen.current = isOpen;
  }, [isOpen, isKnown]);
}

/** Manages the row that is reachable with the Tab key. The arrow keys move to other rows (roving tabindex). */
function useCurrentRow(
  count: number,
  scrollTo: (index: number) => void,
  scroller: React.RefObject<HTMLElement | null>,
) {
  const [current, setCurrent] = useState(0);
  const focusIndex = useRef<number | null>(null);
  useEffect(() => {
    if (focusIndex.current === null) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-index="${focusIndex.current}"] .flag-link`);
    if (!link) return;
    focusIndex.current = null;
    link.focus({ preventScroll: true });
  });
  const move = (to: number, isByKey = true) => {
    const index = Math.max(0, Math.min(count - 1, to));
    setCurrent(index);
    if (!isByKey) return;
    focusIndex.current = index;
    scrollTo(index);
  };
  return { current: Math.min(current, count - 1), move };
}

interface RowProps {
  index: number;
  start: number;
  flag: Flag | undefined;
  isCurrent: boolean;
  openId: string;
  onOpen: (id: string) => void;
  onFocus: () => void;
  drafts: Drafts;
  notify: (notice: Notice | null) => void;
  keyOf: KeyOf;
  selection: ReturnType<typeof useSelection<Flag>>;
}

function Row({ index, start, flag, isCurrent, openId, onOpen, onFocus, drafts, notify, keyOf, selection }: RowProps) {
  const { timezone } = useProject();
  const mayEdit = useHasLevel(1);
  const place = {
    role: 'row',
    className: 'flag-row',
    'aria-rowindex': index + 2,
    'data-index': index,
    style: { transform: `translateY(${start}px)` },
    onFocus,
  };
  if (flag === undefined) return <div {...place} aria-busy="true" />;
  const id = String(flag.id);
  const { percentage, isOfMatching } = computeRollout(flag);
  const summary = summarizeFlag(flag, keyOf);
  const called = flag.last_called_at;
  return (
    <div {...place} {...(id === openId && { 'data-open': '', 'aria-current': 'true' as const })}>
      <Cell name="choose">
        <input
          type="checkbox"
          aria-label={text.choose(flag.key)}
          checked={selection.has(flag.id)}
          disabled={!mayEdit || !flag.can_edit}
          tabIndex={isCurrent ? 0 : -1}
          onChange={() => selection.toggle(flag.id)}
        />
      </Cell>
      <Cell name="flag">
        <button
          type="button"
          className="flag-link row-link mono"
          tabIndex={isCurrent ? 0 : -1}
          onClick={() => onOpen(id)}
        >
          {flag.key}
        </button>
        {flag.status === 'STALE' && <span className="pill pill-warn">{text.stale}</span>}
        {drafts.has(id) && <span className="pill pill-warn">{text.unsaved}</span>}
      </Cell>
      <Cell name="on">
        <FlagSwitch flag={flag} notify={notify} tabIndex={isCurrent ? 0 : -1} />
      </Cell>
      <Cell name="rollout">
        <span className="flag-bar" aria-hidden="true">
          <span className="flag-bar-part" style={{ width: `${percentage}%` }} />
        </span>
        <span className="mono">{percentage}%</span>
        {isOfMatching && <span className="hint flag-matching">{text.ofMatching}</span>}
      </Cell>
      <Cell name="conditions">
        <span className="cut quiet" title={summary}>
          {summary}
        </span>
      </Cell>
      <Cell name="called">
        {called === null ? (
          <span className="quiet">{text.neverCalled}</span>
        ) : (
          <time className="quiet" dateTime={called} title={formatTime(called, timezone)}>
            {formatPast(called)}
          </time>
        )}
      </Cell>
    </div>
  );
}

function Cell({ name, children }: { name: keyof typeof text.columns; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as for the rows
    <span role="cell" className={`flag-col-${name}`}>
      {children}
    </span>
  );
}

/** A switch that changes immediately. If the server rejects the change, the switch reverts and an error is shown. */
export function FlagSwitch({
  flag,
  notify,
  tabIndex = 0,
}: {
  flag: Flag;
  notify: (notice: Notice | null) => void;
  tabIndex?: number;
}) {
  const { id: projectId } = useProject();
  const mayEdit = useHasLevel(1) && flag.can_edit;
  const turn = useMutation({
    mutationFn: (active: boolean) =>
      call<Flag>({ method: 'PATCH', path: `/api/projects/${projectId}/feature_flags/${flag.id}`, body: { active } }),
    onMutate: async (active) => {
      await queryClient.cancelQueries({ queryKey: ['flags', projectId] });
      updateCachedFlag(projectId, { id: flag.id, active });
      notify(null);
    },
    onError: (error, active) => {
      updateCachedFlag(projectId, { id: flag.id, active: !active });
      notify({ text: text.switchFailed(flag.key, !active, explainError(error)), isBad: true });
    },
    onSuccess: (now) => updateCachedFlag(projectId, now),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['flags', projectId] }),
  });
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={flag.active}
      aria-label={text.switchOf(flag.key)}
      disabled={!mayEdit || flag.archived}
      title={mayEdit ? undefined : text.mayNotEdit}
      tabIndex={tabIndex}
      onClick={() => turn.mutate(!flag.active)}
    >
      <span className="switch-knob" />
    </button>
  );
}

export function updateCachedFlag(projectId: number, now: Partial<Flag> & { id: number }): void {
  const changed = (flag: Flag) => (flag.id === now.id ? { ...flag, ...now } : flag);
  queryClient.setQueriesData<Page<Flag>>({ queryKey: ['flags', projectId, 'list'] }, (page) =>
    page === undefined ? page : { ...page, results: page.results.map(changed) },
  );
  queryClient.setQueryData<Flag>(['flags', projectId, 'one', String(now.id)], (flag) => flag && changed(flag));
}
