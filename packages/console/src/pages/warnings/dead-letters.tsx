// The list of dead letters, in which administrators select records to replay or discard.

import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type ApiCall, ApiProblem, call, readCursor } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { createRowShortcuts, usePageKeys } from '../../parts/keys.ts';
import { Search } from '../../parts/search.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { SpanMenu } from '../../parts/span.tsx';
import { EmptyState, ErrorState, explainError, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { toFilterValue, type WarningsUrlState } from './address.ts';
import { type DeadLetter, type DeadLetterPage, type Decision, formatDeadLetterId } from './dead-letter.ts';
import { DeadLetterDetail } from './dead-letter-detail.tsx';
import { DeadLetterDialog } from './decide.tsx';
import { text as words } from './words.ts';

const text = words.deadLetters;

export const createDeadLettersRequest = (project: number, { view, span }: WarningsUrlState): ApiCall => ({
  path: `/api/projects/${project}/dead_letters`,
  query: { ...span, reason: view.reason, topic: toFilterValue(view.topic), state: toFilterValue(view.state) },
});

export function DeadLetters({ address }: { address: WarningsUrlState }) {
  const mayDecide = useHasLevel(8);
  if (mayDecide) return <OfAdministrator address={address} />;
  return (
    <div className="panel">
      <ErrorState what={text.what} error={new ApiProblem(403, { detail: text.refused }, new Headers())} />
    </div>
  );
}

function OfAdministrator({ address }: { address: WarningsUrlState }) {
  const { view, change } = address;
  const { id } = useProject();
  const panel = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [decision, setDecision] = useState<Decision | null>(null);
  const request = createDeadLettersRequest(id, address);
  const query = useInfiniteQuery({
    queryKey: ['warnings', id, 'letters', request.query],
    queryFn: ({ pageParam, signal }) =>
      call<DeadLetterPage>({ ...request, query: { ...request.query, limit: 100, cursor: pageParam } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  const deadLetters = query.data?.pages.flatMap(({ results }) => results) ?? [];
  const current = () => document.activeElement?.closest('tr')?.querySelector('[data-row]')?.getAttribute('data-row');
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  usePageKeys({
    ...createRowShortcuts(panel),
    x: () => {
      const deadLetter = deadLetters.find((one) => one.id === current());
      if (deadLetter?.state === 'waiting') toggle(deadLetter.id);
    },
    r: () => selected.size > 0 && setDecision({ verb: 'replay', ids: [...selected] }),
  });
  const close = () => {
    change({ letter: '' });
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(`[data-row="${view.letter}"]`)?.focus());
  };
  return (
    <>
      <Filters address={address} />
      <div className="panel list-detail" ref={panel} {...(view.letter !== '' && { 'data-open': '' })}>
        <div className="list warnings-list">
          <QueryContent query={query} what={text.what}>
            {() =>
              deadLetters.length === 0 ? (
                <Nothing address={address} />
              ) : (
                <>
                  <Selection
                    {...{ deadLetters, selected, request, hasMore: query.hasNextPage }}
                    onSelect={setSelected}
                    onDecide={(verb) => setDecision({ verb, ids: [...selected] })}
                  />
                  <Rows {...{ deadLetters, selected, address }} onToggle={toggle} />
                  {query.hasNextPage && (
                    <div className="form-buttons warnings-more">
                      <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
                        {text.more}
                      </Button>
                    </div>
                  )}
                </>
              )
            }
          </QueryContent>
        </div>
        {view.letter !== '' && (
          <DeadLetterDetail
            key={view.letter}
            id={view.letter}
            zone={address.zone}
            onDecide={setDecision}
            onClose={close}
          />
        )}
      </div>
      {decision && (
        <DeadLetterDialog decision={decision} onClose={() => setDecision(null)} onDone={() => setSelected(new Set())} />
      )}
    </>
  );
}

function Filters({ address: { view, change, span } }: { address: WarningsUrlState }) {
  const project = useProject();
  return (
    <FilterBar
      chips={[]}
      search={
        <Search value={view.reason} label={text.reason} onSearch={(reason) => change({ reason }, { replace: true })} />
      }
    >
      <SelectFilter
        name={text.state}
        value={view.state}
        options={text.states}
        onChoose={(state) => change({ state })}
      />
      <SelectFilter
        name={text.topic}
        value={view.topic}
        options={text.topics}
        onChoose={(topic) => change({ topic })}
      />
      <SpanMenu
        span={span}
        zone={view.zone}
        zoneOfProject={project.timezone}
        presets={['-1h', '-24h', '-7d', '-30d']}
        onSpan={change}
        onZone={(zone) => change({ zone })}
      />
    </FilterBar>
  );
}

function Selection({
  deadLetters,
  selected,
  request,
  hasMore,
  onSelect,
  onDecide,
}: {
  deadLetters: readonly DeadLetter[];
  selected: ReadonlySet<string>;
  request: ApiCall;
  hasMore: boolean;
  onSelect: (ids: ReadonlySet<string>) => void;
  onDecide: (verb: Decision['verb']) => void;
}) {
  const shown = idsWaiting(deadLetters);
  const selectAll = useMutation({
    mutationFn: () => readAllIds(request),
    onSuccess: (ids) => onSelect(new Set(ids)),
  });
  const isReading = selectAll.isPending;
  const hasAll = shown.length > 0 && shown.every((id) => selected.has(id));
  return (
    <div className="dead-letters-selection">
      <label className="dead-letters-check">
        <input
          type="checkbox"
          aria-label={text.selectShown(shown.length)}
          checked={hasAll}
          disabled={shown.length === 0}
          onChange={() => onSelect(new Set(hasAll ? [] : shown))}
        />
      </label>
      <span role="status">{isReading ? text.selecting : text.selected(selected.size)}</span>
      {selectAll.error && (
        <span className="bad" role="alert">
          {explainError(selectAll.error)}
        </span>
      )}
      {hasMore && hasAll && (
        <Button look="plain" isDisabled={isReading} onPress={() => selectAll.mutate()}>
          {text.selectAll}
        </Button>
      )}
      <span className="hint grow dead-letters-keys">{text.keys}</span>
      <Button shortcut="R" isDisabled={selected.size === 0} onPress={() => onDecide('replay')}>
        {text.replay}
      </Button>
      <Button look="danger" isDisabled={selected.size === 0} onPress={() => onDecide('discard')}>
        {text.discard}
      </Button>
    </div>
  );
}

const idsWaiting = (deadLetters: readonly DeadLetter[]) =>
  deadLetters.filter(({ state }) => state === 'waiting').map(({ id }) => id);

/** Reads the IDs from all pages. Requests large pages, because the server reads the log again for each page. */
async function readAllIds(request: ApiCall): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page: DeadLetterPage = await call({ ...request, query: { ...request.query, limit: 1000, cursor } });
    ids.push(...idsWaiting(page.results));
    cursor = readCursor(page.next);
  } while (cursor !== undefined);
  return ids;
}

function Rows({
  deadLetters,
  selected,
  address: { view, change, zone },
  onToggle,
}: {
  deadLetters: readonly DeadLetter[];
  selected: ReadonlySet<string>;
  address: WarningsUrlState;
  onToggle: (id: string) => void;
}) {
  return (
    <div className="warnings-rows">
      <table className="table" aria-label={text.list}>
        <thead>
          <tr>
            <th scope="col">
              <span className="only-heard">{text.heads.select}</span>
            </th>
            <th scope="col">{text.heads.reason}</th>
            <th scope="col" className="warnings-wide">
              {text.heads.place}
            </th>
            <th scope="col">{text.heads.age}</th>
          </tr>
        </thead>
        <tbody>
          {deadLetters.map(({ id, detail, event, distinct_id: distinctId, dead_at: deadAt, state }) => (
            <tr key={id} className="warnings-row" {...(id === view.letter && { 'data-open': '' })}>
              <td className="dead-letters-select">
                <label className="dead-letters-check">
                  <input
                    type="checkbox"
                    aria-label={text.selectOne(id)}
                    checked={selected.has(id)}
                    disabled={state !== 'waiting'}
                    onChange={() => onToggle(id)}
                  />
                </label>
              </td>
              <td>
                <button
                  type="button"
                  className="link-button row-link"
                  data-row={id}
                  onClick={() => change({ letter: id })}
                >
                  {detail}
                </button>
                {state !== 'waiting' && <span className="pill">{text.states[state]}</span>}
                <p className="quiet warnings-detail">
                  <strong>{escapeInvisible(event ?? text.noEvent)}</strong> {escapeInvisible(distinctId ?? '')}
                </p>
              </td>
              <td className="mono quiet warnings-wide">{formatDeadLetterId(id)}</td>
              <td className="quiet">
                <time dateTime={deadAt} title={formatTime(deadAt, zone)}>
                  {formatAgo(deadAt)}
                </time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Nothing({ address: { view, change } }: { address: WarningsUrlState }) {
  const isNarrowed = view.reason !== '' || view.topic !== 'all' || view.state !== 'waiting';
  if (!isNarrowed) {
    return (
      <div className="good">
        <EmptyState title={text.emptyTitle} icon="check">
          <p className="quiet">{text.empty}</p>
        </EmptyState>
      </div>
    );
  }
  return (
    <EmptyState title={text.noMatchTitle} icon="warnings">
      <p className="quiet">{text.noMatch}</p>
      <div className="form-buttons">
        <Button onPress={() => change({ reason: '', topic: 'all', state: 'all' })}>{words.showAll}</Button>
      </div>
    </EmptyState>
  );
}
