// The list of dashboards with search, sorting and bulk actions.

import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useOffsetPages } from '../../api/offset-pages.ts';
import type { ApiCall } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { loadPageCode } from '../../frame/broken.tsx';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, SearchBar } from '../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { SortableHeader } from '../../parts/sort-head.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { BulkBar, FavoriteStar, FavoritesButton, useSelection } from '../../records/bulk.tsx';
import { useRecordChange } from '../../records/change.ts';
import { getSortProps } from '../../records/sorting.ts';
import type { OfferUndo } from '../../records/undo.ts';
import { words } from '../../words.ts';
import type { Environment } from '../settings/environment.ts';
import type { DashboardsUrlState } from './address.ts';
import type { Dashboard } from './shapes.ts';
import { text } from './words.ts';

/** The dialog is loaded on demand, because it contains all templates. */
const MakeDialog = lazy(
  loadPageCode(() => import('./create-dialog.tsx').then((part) => ({ default: part.CreateDialog }))),
);

interface ListProps {
  address: DashboardsUrlState;
  onOpen: (id: number) => void;
  notice: ReactNode;
  offerUndo: OfferUndo;
}

export function DashboardList({ address, onOpen, notice, offerUndo }: ListProps) {
  const { view, change, unknown } = address;
  const { id } = useProject();
  const [isMaking, setMaking] = useState(false);
  const isNarrowed = view.search !== '' || view.favorites;
  const request: ApiCall = {
    path: `/api/projects/${id}/dashboards`,
    query: { search: view.search, order: view.order, pinned: view.favorites || undefined },
  };
  const query = useOffsetPages<Dashboard>(['dashboards', id, 'list'], request);
  return (
    <>
      <PageTitle
        title={words.pages.dashboards.title}
        now={query.data && <span className="pill">{text.count(query.data.count)}</span>}
      >
        <AsApiCallButton request={request} />
        <Button look="main" onPress={() => setMaking(true)}>
          {text.make}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <SearchBar address={{ view, change }} label={text.search}>
        <FavoritesButton isOn={view.favorites} onToggle={(favorites) => change({ favorites })} />
      </SearchBar>
      {notice}
      <div className="panel">
        <QueryContent query={query} what={text.what}>
          {({ rows }) =>
            rows.length === 0 ? (
              <EmptyState title={isNarrowed ? text.noneFound : text.none} icon="dashboards">
                {!isNarrowed && <p className="quiet">{text.noneText}</p>}
                <div className="form-buttons">
                  {isNarrowed ? (
                    <Button onPress={() => change({ search: '', favorites: false })}>{text.all}</Button>
                  ) : (
                    <Button look="main" onPress={() => setMaking(true)}>
                      {text.make}
                    </Button>
                  )}
                </div>
              </EmptyState>
            ) : (
              <div className="list-rows">
                <Rows dashboards={rows} {...{ address, onOpen, offerUndo }} />
                <LoadMoreButton query={query} label={text.showMore} />
              </div>
            )
          }
        </QueryContent>
      </div>
      {isMaking && (
        <Suspense>
          <MakeDialog onMade={onOpen} onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </>
  );
}

function Rows({
  dashboards,
  address: { view, change },
  onOpen,
  offerUndo,
}: Omit<ListProps, 'notice'> & { dashboards: readonly Dashboard[] }) {
  const { id, primary_dashboard: primary } = useProject() as Environment;
  const selection = useSelection(dashboards);
  const star = useRecordChange();
  const path = ({ id: dashboard }: Dashboard) => `/api/projects/${id}/dashboards/${dashboard}`;
  const sort: [typeof view.order, (order: typeof view.order) => void] = [view.order, (order) => change({ order })];
  return (
    <>
      <BulkBar
        rows={selection.rows}
        path={path}
        restore={() => ({ deleted: false })}
        offerUndo={offerUndo}
        onDone={selection.clear}
      />
      <table className="table" aria-label={text.list}>
        <thead>
          <tr>
            <th className="row-tools">
              <span className="only-heard">{text.columns.tools}</span>
            </th>
            <SortableHeader name={text.columns.name} {...getSortProps('name', 'name', sort)} />
            <th className="list-wide">{text.columns.description}</th>
            <SortableHeader
              name={text.columns.by}
              className="list-wide"
              {...getSortProps('created_by', 'created_by', sort)}
            />
            <SortableHeader name={text.columns.seen} {...getSortProps('last_accessed_at', '-last_accessed_at', sort)} />
          </tr>
        </thead>
        <tbody>
          {dashboards.map((dashboard) => {
            const { description, pinned, tags, created_by: by, last_accessed_at: seen } = dashboard;
            const name = escapeInvisible(dashboard.name || text.unnamed);
            return (
              <tr key={dashboard.id} className="list-row">
                <td className="row-tools">
                  <input
                    type="checkbox"
                    aria-label={text.choose(name)}
                    checked={selection.has(dashboard.id)}
                    onChange={() => selection.toggle(dashboard.id)}
                  />
                  <FavoriteStar
                    name={name}
                    isOn={pinned}
                    onToggle={() => star.mutate({ method: 'PATCH', path: path(dashboard), body: { pinned: !pinned } })}
                  />
                </td>
                <td>
                  <button type="button" className="link-button row-link" onClick={() => onOpen(dashboard.id)}>
                    {name}
                  </button>
                  {dashboard.id === primary && <span className="pill">{text.primary}</span>}
                  {tags.map((tag) => (
                    <span key={tag} className="pill">
                      {escapeInvisible(tag)}
                    </span>
                  ))}
                </td>
                <td className="list-wide quiet">{escapeInvisible(description.slice(0, 100))}</td>
                <td className="list-wide">{by === null ? '' : escapeInvisible(by.first_name || by.email)}</td>
                <td className="quiet">{seen === null ? '–' : formatAgo(seen)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
