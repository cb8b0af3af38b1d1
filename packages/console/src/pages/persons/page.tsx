import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ApiCall, call, cursorOf } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, Chips } from '../../parts/chips.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import { Search } from '../../parts/search.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { words } from '../../words.ts';
import { type PersonsAddress, usePersonsAddress } from './address.ts';
import { PersonDetail } from './person.tsx';
import type { Cursor, Person } from './shapes.ts';
import { text } from './words.ts';
import './persons.css';

const pageSize = 50;

export function Page() {
  const address = usePersonsAddress();
  const { view, change, unknown } = address;
  const [isShowingCall, setShowingCall] = useState(false);
  const { id } = useProject();
  const request: ApiCall = { path: `/api/projects/${id}/persons`, query: { search: view.search, limit: pageSize } };
  return (
    <>
      <PageTitle title={words.pages.persons.title} />
      <AddressHint unknown={unknown} />
      <Chips
        chips={[]}
        search={
          <Search
            value={view.search}
            label={text.search}
            onSearch={(search) => change({ search }, { replace: true })}
          />
        }
      >
        <Button onPress={() => setShowingCall(true)}>{words.asApiCall}</Button>
      </Chips>
      <div className="panel list-detail persons" {...(view.person !== '' && { 'data-open': '' })}>
        <List request={request} address={address} />
        {view.person !== '' && <PersonDetail key={view.person} id={view.person} address={address} />}
      </div>
      {isShowingCall && <AsApiCall request={request} onClose={() => setShowingCall(false)} />}
    </>
  );
}

/** The answer to each search has a key of its own: an older one never comes over a newer. */
function List({ request, address: { view, change } }: { request: ApiCall; address: PersonsAddress }) {
  const { id } = useProject();
  const query = useInfiniteQuery({
    queryKey: ['persons', id, 'list', view.search],
    queryFn: ({ pageParam, signal }) =>
      call<Cursor<Person>>({ ...request, query: { ...request.query, cursor: pageParam } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
  });
  return (
    <div className="list">
      <Loaded query={query} what={text.what}>
        {({ pages }) => {
          const persons = pages.flatMap(({ results }) => results);
          if (persons.length === 0)
            return <NoPerson isNarrowed={view.search !== ''} onAll={() => change({ search: '' })} />;
          return (
            <div className="person-rows">
              <Rows persons={persons} openId={view.person} onOpen={(person) => change({ person })} />
              {query.hasNextPage && (
                <div className="form-buttons person-more">
                  <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
                    {text.more}
                  </Button>
                </div>
              )}
            </div>
          );
        }}
      </Loaded>
    </div>
  );
}

function NoPerson({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }) {
  if (!isNarrowed) {
    return (
      <Empty title={text.emptyTitle} icon="persons">
        <p className="quiet">{text.empty}</p>
      </Empty>
    );
  }
  return (
    <Empty title={text.noMatchTitle} icon="persons">
      <p className="quiet">{text.noMatch}</p>
      <div className="form-buttons">
        <Button onPress={onAll}>{text.showAll}</Button>
      </div>
    </Empty>
  );
}

function Rows({
  persons,
  openId,
  onOpen,
}: {
  persons: readonly Person[];
  openId: string;
  onOpen: (uuid: string) => void;
}) {
  const { timezone } = useProject();
  const open = persons.find(({ uuid, distinct_ids: ids }) => uuid === openId || ids.includes(openId))?.uuid;
  useReturn(openId !== '', open);
  return (
    <table className="table" aria-label={text.list}>
      <thead>
        <tr>
          <th>{text.columns.name}</th>
          <th className="person-wide">{text.columns.ids}</th>
          <th>{text.columns.seen}</th>
        </tr>
      </thead>
      <tbody>
        {persons.map(({ uuid, name, distinct_ids: ids, is_identified: isIdentified, created_at: seen }) => (
          <tr key={uuid} className="person-row" {...(uuid === open && { 'data-open': '' })}>
            <td>
              <button type="button" className="link-button row-link" data-person={uuid} onClick={() => onOpen(uuid)}>
                {name}
              </button>
              {!isIdentified && <span className="pill">{text.anonymous}</span>}
            </td>
            <td className="person-wide quiet">
              <span className="mono">{ids[0]}</span>
              {ids.length > 1 && ` + ${ids.length - 1}`}
            </td>
            <td className="quiet">
              <time dateTime={seen} title={formatTime(seen, timezone)}>
                {formatAgo(seen)}
              </time>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** When a person is closed, the focus goes back to their row. */
function useReturn(isOpen: boolean, open: string | undefined) {
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (open !== undefined) last.current = open;
    if (isOpen || last.current === undefined) return;
    document.querySelector<HTMLElement>(`[data-person="${last.current}"]`)?.focus();
    last.current = undefined;
  }, [isOpen, open]);
}
