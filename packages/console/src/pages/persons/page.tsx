import { useInfiniteQuery } from '@tanstack/react-query';
import { type ApiCall, call, cursorOf } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { useReturn } from '../../parts/aside.tsx';
import { Button } from '../../parts/button.tsx';
import { AddressHint, Chips } from '../../parts/chips.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { More } from '../../parts/more.tsx';
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
        <AsApiCallButton request={request} />
      </Chips>
      <div className="panel list-detail persons" {...(view.person !== '' && { 'data-open': '' })}>
        <List request={request} address={address} />
        {view.person !== '' && <PersonDetail key={view.person} id={view.person} address={address} />}
      </div>
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
            <div className="list-rows">
              <Rows persons={persons} openId={view.person} onOpen={(person) => change({ person })} />
              <More query={query} label={text.more} />
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
          <th className="list-wide">{text.columns.ids}</th>
          <th>{text.columns.seen}</th>
        </tr>
      </thead>
      <tbody>
        {persons.map(({ uuid, name, distinct_ids: ids, is_identified: isIdentified, created_at: seen }) => (
          <tr key={uuid} className="list-row" {...(uuid === open && { 'data-open': '' })}>
            <td>
              <button type="button" className="link-button row-link" data-row={uuid} onClick={() => onOpen(uuid)}>
                {name}
              </button>
              {!isIdentified && <span className="pill">{text.anonymous}</span>}
            </td>
            <td className="list-wide quiet">
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
