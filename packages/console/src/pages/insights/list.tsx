import type { ReactNode } from 'react';
import { useOffsetPages } from '../../api/offset-pages.ts';
import type { ApiCall } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, SearchBar } from '../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { SortableHeader } from '../../parts/sort-head.tsx';
import { EmptyState, explainError, QueryContent } from '../../parts/states.tsx';
import { BulkBar, FavoriteStar, FavoritesButton, useSelection } from '../../records/bulk.tsx';
import { useRecordChange } from '../../records/change.ts';
import { getSortProps } from '../../records/sorting.ts';
import type { OfferUndo } from '../../records/undo.ts';
import { ResultPreview } from '../../results/glance.tsx';
import { findSource, getInsightName } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import { isKind } from './query.ts';
import { type Insight, type InsightsUrlState, insightDrafts } from './view.ts';
import { text } from './words.ts';

interface ListProps {
  address: InsightsUrlState;
  notice: ReactNode;
  offerUndo: OfferUndo;
}

/** Lists insights. Users can search and sort them, and change several insights at the same time. */
export function InsightList({ address, notice, offerUndo }: ListProps) {
  const { view, change, unknown } = address;
  const { id } = useProject();
  const path = `/api/projects/${id}/insights`;
  const filter = { search: view.search, order: view.order, favorited: view.favorites || undefined };
  const request: ApiCall = { path, query: { basic: true, ...filter } };
  const query = useOffsetPages<Insight>(['insights', id, 'list'], request);
  // Results may be large, so they are loaded separately and the list does not wait for them.
  const cached = useOffsetPages<Insight & { result: unknown }>(['insights', id, 'results'], {
    path,
    query: { refresh: 'force_cache', ...filter },
  });
  const more = {
    ...query,
    fetchNextPage: () => {
      void query.fetchNextPage();
      void cached.fetchNextPage();
    },
  };
  const make = () => change({ insight: 'new', search: '' });
  return (
    <>
      <PageTitle
        title={words.pages.insights.title}
        now={query.data && <span className="pill">{text.count(query.data.count)}</span>}
      >
        <AsApiCallButton request={request} />
        <Button look="main" onPress={make}>
          {text.make}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <SearchBar address={{ view, change }} label={text.search}>
        <FavoritesButton isOn={view.favorites} onToggle={(favorites) => change({ favorites })} />
      </SearchBar>
      {notice}
      {cached.error && (
        <p className="health-line" role="alert">
          {text.resultsFailed} {explainError(cached.error)}
        </p>
      )}
      <div className="panel">
        <QueryContent query={query} what={text.what}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Nothing
                isNarrowed={view.search !== '' || view.favorites}
                onMake={make}
                onAll={() => change({ search: '', favorites: false })}
              />
            ) : (
              <div className="list-rows">
                <Rows
                  insights={rows}
                  results={new Map(cached.data?.rows.map(({ id: insight, result }) => [insight, result]))}
                  {...{ address, offerUndo }}
                />
                <LoadMoreButton query={more} label={text.showMore} />
              </div>
            )
          }
        </QueryContent>
      </div>
    </>
  );
}

function Nothing({ isNarrowed, onMake, onAll }: { isNarrowed: boolean; onMake: () => void; onAll: () => void }) {
  return (
    <EmptyState title={isNarrowed ? text.noneFound : text.none} icon="insights">
      {!isNarrowed && <p className="quiet">{text.noneText}</p>}
      <div className="form-buttons">
        {isNarrowed ? (
          <Button onPress={onAll}>{text.all}</Button>
        ) : (
          <Button look="main" onPress={onMake}>
            {text.make}
          </Button>
        )}
      </div>
    </EmptyState>
  );
}

function Rows({
  insights,
  results,
  address: { view, change },
  offerUndo,
}: Pick<ListProps, 'address' | 'offerUndo'> & {
  insights: readonly Insight[];
  results: ReadonlyMap<number, unknown>;
}) {
  const { id } = useProject();
  const drafts = insightDrafts.use(id);
  const selection = useSelection(insights);
  const star = useRecordChange();
  const path = ({ id: insight }: Insight) => `/api/projects/${id}/insights/${insight}`;
  const open = (insight: string) => change({ insight, search: '' });
  const sort: [typeof view.order, (order: typeof view.order) => void] = [view.order, (order) => change({ order })];
  return (
    <>
      <BulkBar
        rows={selection.rows}
        path={path}
        restore={({ dashboards }) => ({ deleted: false, dashboards })}
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
            <th>{text.columns.kind}</th>
            <th className="list-wide">{text.columns.result}</th>
            <SortableHeader
              name={text.columns.by}
              className="list-wide"
              {...getSortProps('last_modified_by', 'last_modified_by', sort)}
            />
            <SortableHeader
              name={text.columns.at}
              className="list-wide"
              {...getSortProps('last_modified_at', '-last_modified_at', sort)}
            />
          </tr>
        </thead>
        <tbody>
          {drafts.has('new') && (
            <tr className="list-row">
              <td />
              <td colSpan={5}>
                <button type="button" className="link-button row-link" onClick={() => open('new')}>
                  {text.newTitle}
                </button>{' '}
                <span className="pill pill-warn">{text.unsaved}</span>
              </td>
            </tr>
          )}
          {insights.map((insight) => {
            const { short_id: shortId, query, favorited, tags, last_modified_by: by, last_modified_at: at } = insight;
            const name = getInsightName(insight);
            return (
              <tr key={shortId} className="list-row">
                <td className="row-tools">
                  <input
                    type="checkbox"
                    aria-label={text.choose(name)}
                    checked={selection.has(insight.id)}
                    onChange={() => selection.toggle(insight.id)}
                  />
                  <FavoriteStar
                    name={name}
                    isOn={favorited}
                    onToggle={() =>
                      star.mutate({ method: 'PATCH', path: path(insight), body: { favorited: !favorited } })
                    }
                  />
                </td>
                <td>
                  <button type="button" className="link-button row-link" onClick={() => open(shortId)}>
                    {name}
                  </button>
                  {drafts.has(shortId) && <span className="pill pill-warn">{text.changed}</span>}
                  {tags.map((tag) => (
                    <span key={tag} className="pill">
                      {escapeInvisible(tag)}
                    </span>
                  ))}
                </td>
                <td>{kindOf(query)}</td>
                <td className="list-wide">
                  <ResultPreview query={query} result={results.get(insight.id) ?? null} />
                </td>
                <td className="list-wide">{by === null ? '' : escapeInvisible(by.first_name || by.email)}</td>
                <td className="list-wide quiet">{formatAgo(at)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

function kindOf(query: unknown): string {
  const kind = findSource(query)?.kind ?? '';
  if (kind === 'HogQLQuery') return text.sqlKind;
  return isKind(kind) ? text.kinds[kind] : text.otherKind;
}
