// The Persons page, where users find persons and see their properties, events, cohorts and flags.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ApiCall, call, readCursor } from '../../api/request.ts';
import { Avatar, findPersonName, formatPersonSubtitle, formatPersonTitle } from '../../event-detail/person-name.tsx';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, SearchBar } from '../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { useFocusReturn } from '../../parts/side-panel.tsx';
import { SortableHeader } from '../../parts/sort-head.tsx';
import { EmptyState, explainError, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { formatNumber, words } from '../../words.ts';
import { maxInCohort, SaveAsCohort } from '../cohorts/save-as-cohort.tsx';
import { isTooSlow, shouldRetry } from '../events/slow.tsx';
import { type PersonsUrlState, usePersonsUrlState } from './address.ts';
import { PersonDetail } from './person.tsx';
import { type Cursor, formatLocation, type Person } from './shapes.ts';
import { text } from './words.ts';
import './persons.css';

const pageSize = 50;

export function Page() {
  const address = usePersonsUrlState();
  const { view, change, unknown } = address;
  const { id } = useProject();
  // Omit `order` for a search in the default order. The API then first returns the persons whose email address or
  // distinct ID begins with the search text.
  const isUsual = view.search !== '' && view.sort === '-created_at';
  const request: ApiCall = {
    path: `/api/projects/${id}/persons`,
    query: { search: view.search, ...(!isUsual && { order: view.sort }), limit: pageSize },
  };
  return (
    <>
      <PageTitle title={words.pages.persons.title} now={<Count search={view.search} />} />
      <AddressHint unknown={unknown} />
      <SearchBar address={{ view, change }} label={text.search}>
        {view.search !== '' && <SaveAsCohort name={view.search} read={() => readUuids(request)} />}
        <AsApiCallButton request={request} />
      </SearchBar>
      <div className="panel list-detail persons" {...(view.person !== '' && { 'data-open': '' })}>
        <List request={request} address={address} />
        {view.person !== '' && <PersonDetail key={view.person} id={view.person} address={address} />}
      </div>
    </>
  );
}

/**
 * Reads the UUIDs of the listed persons. Follows the links to further pages, because a search that exceeds its time
 * limit returns an incomplete page.
 */
async function readUuids({ path, query }: ApiCall): Promise<string[]> {
  const uuids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await call<Cursor<Person>>({ path, query: { ...query, limit: maxInCohort, cursor } });
    uuids.push(...page.results.map(({ uuid }) => uuid));
    cursor = readCursor(page.next);
  } while (cursor !== undefined && uuids.length < maxInCohort);
  return uuids.slice(0, maxInCohort);
}

/**
 * Shows how many persons the project has, or how many match the search. A plus sign after the number means "at least".
 */
function Count({ search }: { search: string }) {
  const { id } = useProject();
  const { data, error } = useQuery({
    queryKey: ['persons', id, 'count', search],
    queryFn: ({ signal }) =>
      call<{ count: number; is_complete: boolean }>(
        { path: `/api/projects/${id}/persons/count`, query: { search } },
        signal,
      ),
    retry: shouldRetry,
  });
  if (error)
    return <span className="bad">{isTooSlow(error) ? text.countTimedOut : text.countFailed(explainError(error))}</span>;
  return data && <span className="pill">{`${formatNumber(data.count)}${data.is_complete ? '' : '+'}`}</span>;
}

function usePages(name: string, { path, query }: ApiCall) {
  const { id } = useProject();
  return useInfiniteQuery({
    queryKey: ['persons', id, name, query],
    queryFn: ({ pageParam, signal }) => call<Cursor<Person>>({ path, query: { ...query, cursor: pageParam } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
}

function List({ request, address: { view, change } }: { request: ApiCall; address: PersonsUrlState }) {
  const query = usePages('list', request);
  // Finding the persons' latest events takes longer and may fail, so the list does not wait for them.
  const seen = usePages('seen', { ...request, query: { ...request.query, last_seen: true } });
  const lastSeen = new Map(
    seen.data?.pages.flatMap(({ results }) => results.map(({ uuid, last_seen_at: at }) => [uuid, at] as const)),
  );
  const more = {
    ...query,
    fetchNextPage: () => {
      void query.fetchNextPage();
      void seen.fetchNextPage();
    },
  };
  return (
    <div className="list">
      {seen.error && (
        <p className="person-note bad" role="alert">
          {text.listSeenFailed(explainError(seen.error))}
        </p>
      )}
      <QueryContent query={query} what={text.what}>
        {({ pages }) => {
          const persons = pages.flatMap(({ results }) => results);
          // After a search has exceeded its time limit, a page can be empty although more pages follow.
          if (persons.length === 0 && query.hasNextPage)
            return (
              <>
                <p className="person-note">{text.noneYet}</p>
                <LoadMoreButton query={more} label={text.continueSearch} />
              </>
            );
          if (persons.length === 0)
            return <NoPerson isNarrowed={view.search !== ''} onAll={() => change({ search: '' })} />;
          return (
            <div className="list-rows">
              <Rows
                persons={persons}
                lastSeen={lastSeen}
                openId={view.person}
                onOpen={(person) => change({ person })}
                isAscending={view.sort === 'created_at'}
                onSort={(sort) => change({ sort })}
              />
              <LoadMoreButton query={more} label={text.more} />
            </div>
          );
        }}
      </QueryContent>
    </div>
  );
}

function NoPerson({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }) {
  const { id } = useProject();
  if (!isNarrowed) {
    return (
      <EmptyState title={text.emptyTitle} icon="persons">
        <p className="quiet">{text.empty}</p>
        <div className="form-buttons">
          <Link className="button button-main" to={`/projects/${id}/settings/project`}>
            {text.setUp}
          </Link>
        </div>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={text.noMatchTitle} icon="persons">
      <p className="quiet">{text.noMatch}</p>
      <div className="form-buttons">
        <Button onPress={onAll}>{text.showAll}</Button>
      </div>
    </EmptyState>
  );
}

function Rows({
  persons,
  lastSeen,
  openId,
  onOpen,
  isAscending,
  onSort,
}: {
  persons: readonly Person[];
  lastSeen: ReadonlyMap<string, string | null>;
  openId: string;
  onOpen: (uuid: string) => void;
  isAscending: boolean;
  onSort: (sort: PersonsUrlState['view']['sort']) => void;
}) {
  const open = persons.find(({ uuid, distinct_ids: ids }) => uuid === openId || ids.includes(openId))?.uuid;
  useFocusReturn(openId !== '', open);
  return (
    <table className="table" aria-label={text.list}>
      <thead>
        <tr>
          <th>{text.columns.name}</th>
          <th className="list-wide">{text.columns.ids}</th>
          <th className="list-wide">{text.columns.place}</th>
          <SortableHeader
            name={text.columns.seen}
            className="list-wide"
            direction={isAscending ? 'ascending' : 'descending'}
            onSort={() => onSort(isAscending ? '-created_at' : 'created_at')}
          />
          <th>{text.columns.lastSeen}</th>
        </tr>
      </thead>
      <tbody>
        {persons.map((person) => {
          const { uuid, distinct_ids: ids, properties, is_identified: isIdentified, created_at: seen } = person;
          const last = lastSeen.get(uuid);
          return (
            <tr key={uuid} className="list-row" {...(uuid === open && { 'data-open': '' })}>
              <td>
                <span className="person-cell">
                  <Avatar name={formatPersonTitle(person)} />
                  <span className="grow">
                    <button type="button" className="link-button row-link" data-row={uuid} onClick={() => onOpen(uuid)}>
                      {formatPersonTitle(person)}
                    </button>
                    {!isIdentified && <span className="pill">{text.anonymous}</span>}
                    {findPersonName(properties) !== '' && (
                      <span className="hint cut">{formatPersonSubtitle(person)}</span>
                    )}
                  </span>
                </span>
              </td>
              <td className="list-wide quiet">
                <span className="mono">{ids[0]}</span>
                {ids.length > 1 && ` + ${ids.length - 1}`}
              </td>
              <td className="list-wide quiet">{formatLocation(properties)}</td>
              <td className="list-wide quiet person-seen">
                <Time at={seen} />
              </td>
              <td className="quiet person-seen">{last ? <Time at={last} /> : last === null && text.neverSeen}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Time({ at }: { at: string }) {
  const { timezone } = useProject();
  return (
    <time dateTime={at} title={formatTime(at, timezone)}>
      {formatPast(at)}
    </time>
  );
}
