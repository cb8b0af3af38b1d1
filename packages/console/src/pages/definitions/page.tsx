// The Definitions page, where users find and describe the project's events and properties.

import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useOffsetPages } from '../../api/offset-pages.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { isUuid, matchingText, part, useUrlState } from '../../parts/address.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { createRowShortcuts, usePageKeys } from '../../parts/keys.ts';
import { LoadMoreButton } from '../../parts/more.tsx';
import { formatPropertyName } from '../../parts/properties.ts';
import { Search } from '../../parts/search.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { useFocusReturn } from '../../parts/side-panel.tsx';
import { SortableHeader } from '../../parts/sort-head.tsx';
import { EmptyState, explainError, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { getSortProps } from '../../records/sorting.ts';
import { formatNumber, words } from '../../words.ts';
import { DefinitionDetail } from './detail.tsx';
import { createDefinitionsRequest, type Definition, orders } from './shapes.ts';
import { text } from './words.ts';
import './definitions.css';

const parts = {
  kind: part.oneOf(['events', 'properties', 'persons'], 'events'),
  show: part.oneOf(['all', 'visible', 'verified'], 'all'),
  search: part.text(),
  order: part.oneOf(orders, 'name'),
  open: matchingText(isUuid),
};
type Address = ReturnType<typeof useUrlState<typeof parts>>;

const searchId = 'definition-search';

export function Page() {
  const address = useUrlState(parts);
  const { view, change, unknown } = address;
  const { id } = useProject();
  const panel = useRef<HTMLDivElement>(null);
  usePageKeys({ ...createRowShortcuts(panel), '/': () => document.getElementById(searchId)?.focus() });
  return (
    <>
      <PageTitle title={words.pages.definitions.title} />
      <AddressHint unknown={unknown} />
      <FilterBar
        chips={[]}
        search={
          <Search
            id={searchId}
            value={view.search}
            label={text.search}
            shortcut="/"
            onSearch={(search) => change({ search }, { replace: true })}
          />
        }
      >
        <SelectFilter
          name={text.kind}
          value={view.kind}
          options={text.kinds}
          onChoose={(kind) => change({ kind, open: '' })}
        />
        <SelectFilter name={text.show} value={view.show} options={text.shows} onChoose={(show) => change({ show })} />
        <AsApiCallButton request={createDefinitionsRequest(id, view)} />
      </FilterBar>
      <div className="panel list-detail" ref={panel} {...(view.open !== '' && { 'data-open': '' })}>
        <List address={address} />
        {view.open !== '' && (
          <DefinitionDetail
            key={`${view.kind} ${view.open}`}
            id={view.open}
            kind={view.kind}
            onClose={() => change({ open: '' })}
          />
        )}
      </div>
    </>
  );
}

function List({ address: { view, change } }: { address: Address }) {
  const { id } = useProject();
  const request = createDefinitionsRequest(id, view);
  const query = useOffsetPages<Definition>(['definitions', id, 'list', request.path], request);
  // Counting takes longer and may fail, so the list does not wait for the counts.
  const counted = useOffsetPages<Definition>(['definitions', id, 'volumes', request.path], {
    ...request,
    query: { ...request.query, volumes: true },
  });
  const hasVolumes = view.kind !== 'persons';
  const volumes = new Map(hasVolumes ? counted.data?.rows.map((row) => [row.id, row]) : []);
  const more = {
    ...query,
    fetchNextPage: () => {
      void query.fetchNextPage();
      void counted.fetchNextPage();
    },
  };
  return (
    <div className="list">
      {counted.error && hasVolumes && (
        <p className="definitions-note bad" role="alert">
          {text.volumeFailed} {explainError(counted.error)}
        </p>
      )}
      <QueryContent query={query} what={text.what}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Nothing
              isNarrowed={view.search !== '' || view.show !== 'all' || view.kind !== 'events'}
              onAll={() => change({ search: '', show: 'all' })}
            />
          ) : (
            <div className="list-rows">
              <Rows
                {...{ rows, volumes, view }}
                onOpen={(open) => change({ open })}
                onSort={(order) => change({ order })}
              />
              <LoadMoreButton query={more} label={text.more} />
            </div>
          )
        }
      </QueryContent>
    </div>
  );
}

function Rows({
  rows,
  volumes,
  view: { kind, open, order },
  onOpen,
  onSort,
}: {
  rows: readonly Definition[];
  volumes: ReadonlyMap<string, Definition>;
  view: Address['view'];
  onOpen: (id: string) => void;
  onSort: (order: Address['view']['order']) => void;
}) {
  const { timezone } = useProject();
  useFocusReturn(open !== '', rows.some(({ id }) => id === open) ? open : undefined);
  const { columns } = text;
  const isOfEvents = kind === 'events';
  return (
    <table className="table definitions" aria-label={text.list}>
      <thead>
        <tr>
          <SortableHeader name={columns.name} {...getSortProps('name', 'name', [order, onSort])} />
          <th className="list-wide">{columns.description}</th>
          <th className="list-wide">{columns.tags}</th>
          {kind !== 'persons' && <th className="number">{columns.volume}</th>}
          {isOfEvents && (
            <SortableHeader
              name={columns.seen}
              className="list-wide"
              {...getSortProps('last_seen_at', '-last_seen_at', [order, onSort])}
            />
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, description, tags, verified, hidden, last_seen_at: seen }) => (
          <tr key={id} className="list-row" {...(id === open && { 'data-open': '' })}>
            <td>
              <button type="button" className="link-button row-link" data-row={id} onClick={() => onOpen(id)}>
                {escapeInvisible(isOfEvents ? name : formatPropertyName(name))}
              </button>
              {!isOfEvents && formatPropertyName(name) !== name && (
                <code className="quiet"> {escapeInvisible(name)}</code>
              )}
              {verified && <span className="pill pill-good">{text.verified}</span>}
              {hidden && <span className="pill">{text.hidden}</span>}
            </td>
            <td className="list-wide definitions-text">
              <div className="cut">{escapeInvisible(description)}</div>
            </td>
            <td className="list-wide">
              {tags.map((tag) => (
                <span key={tag} className="pill">
                  {escapeInvisible(tag)}
                </span>
              ))}
            </td>
            {kind !== 'persons' && <td className="number">{volumeOf(volumes.get(id))}</td>}
            {isOfEvents && (
              <td className="list-wide quiet">
                {seen ? (
                  <time dateTime={seen} title={formatTime(seen, timezone)}>
                    {formatAgo(seen)}
                  </time>
                ) : (
                  text.neverSeen
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function volumeOf(counted: Definition | undefined): string {
  const volume = counted?.volume_30_day ?? null;
  if (volume === null) return text.noVolume;
  return `${counted?.volume_is_estimated ? '~' : ''}${formatNumber(volume)}`;
}

function Nothing({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }) {
  const { id } = useProject();
  if (!isNarrowed)
    return (
      <EmptyState title={text.emptyTitle} icon="definitions">
        <p className="quiet">{text.empty}</p>
        <div className="form-buttons">
          <Link className="button button-main" to={`/projects/${id}/live`}>
            {text.toLive}
          </Link>
        </div>
      </EmptyState>
    );
  return (
    <EmptyState title={text.noMatchTitle} icon="definitions">
      <p className="quiet">{text.noMatch}</p>
      <div className="form-buttons">
        <Button onPress={onAll}>{text.showAll}</Button>
      </div>
    </EmptyState>
  );
}
