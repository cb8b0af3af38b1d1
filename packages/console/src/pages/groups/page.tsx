// The Groups page, where users find groups, such as companies, with their persons and events.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ApiCall, ApiProblem, call, getIngestUrl, readCursor } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, SearchBar } from '../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { useFocusReturn } from '../../parts/side-panel.tsx';
import { EmptyState, ErrorState, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { words } from '../../words.ts';
import { type GroupsUrlState, useGroupsUrlState } from './address.ts';
import { GroupDetail } from './group.tsx';
import { type Group, type GroupType, getGroupName } from './shapes.ts';
import { text } from './words.ts';
import './groups.css';

const pageSize = 50;

export function Page() {
  const { id } = useProject();
  const address = useGroupsUrlState();
  const types = useQuery({
    queryKey: ['groups', id, 'types'],
    queryFn: ({ signal }) => call<GroupType[]>({ path: `/api/projects/${id}/groups_types` }, signal),
  });
  return (
    <>
      <PageTitle title={words.pages.groups.title} />
      <AddressHint unknown={address.unknown} />
      <QueryContent query={types} what={text.what}>
        {(list) => (list.length === 0 ? <NoType /> : <OfType types={list} address={address} />)}
      </QueryContent>
    </>
  );
}

function OfType({ types, address }: { types: readonly GroupType[]; address: GroupsUrlState }) {
  const { id } = useProject();
  const { view, change } = address;
  const type = view.type === '' ? types[0] : types.find(({ group_type: name }) => name === view.type);
  const request: ApiCall = {
    path: `/api/projects/${id}/groups`,
    query: { group_type_index: type?.group_type_index, search: view.search, limit: pageSize },
  };
  return (
    <>
      <SearchBar address={{ view, change }} label={text.search}>
        <AsApiCallButton request={request} />
      </SearchBar>
      <div className="panel list-detail groups" {...(view.key !== '' && { 'data-open': '' })}>
        <div className="list">
          <fieldset className="tabs groups-types">
            <legend className="only-heard">{text.types}</legend>
            {types.map(({ group_type: name, group_type_index: index }) => (
              <button
                key={index}
                type="button"
                className="tab"
                aria-pressed={index === type?.group_type_index}
                onClick={() => change({ type: name, search: '', key: '', tab: 'properties' })}
              >
                {escapeInvisible(name)}
              </button>
            ))}
            <span className="hint groups-count">{text.typeCount(types.length)}</span>
          </fieldset>
          {type ? (
            <List type={type} request={request} address={address} />
          ) : (
            <ErrorState what={text.unknownType} error={new ApiProblem(404, {}, new Headers())} />
          )}
        </div>
        {type && view.key !== '' && <GroupDetail key={view.key} type={type} address={address} />}
      </div>
    </>
  );
}

/** Lists groups. Each search has its own query key, so a late response cannot replace a newer one. */
function List({
  type,
  request,
  address: { view, change },
}: {
  type: GroupType;
  request: ApiCall;
  address: GroupsUrlState;
}) {
  const { id } = useProject();
  const query = useInfiniteQuery({
    queryKey: ['groups', id, 'list', type.group_type_index, view.search],
    queryFn: ({ pageParam, signal }) =>
      call<{ results: Group[]; next: string | null }>(
        { ...request, query: { ...request.query, cursor: pageParam } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  return (
    <QueryContent query={query} what={text.what}>
      {({ pages }) => {
        const groups = pages.flatMap(({ results }) => results);
        if (groups.length === 0)
          return <NoGroup type={type} isNarrowed={view.search !== ''} onAll={() => change({ search: '' })} />;
        return (
          <div className="list-rows">
            <Rows groups={groups} open={view.key} onOpen={(key) => change({ key })} />
            <LoadMoreButton query={query} label={text.more} />
          </div>
        );
      }}
    </QueryContent>
  );
}

function Rows({ groups, open, onOpen }: { groups: readonly Group[]; open: string; onOpen: (key: string) => void }) {
  const { timezone } = useProject();
  useFocusReturn(open !== '', groups.some(({ group_key: key }) => key === open) ? open : undefined);
  return (
    <table className="table" aria-label={text.list}>
      <thead>
        <tr>
          <th>{text.columns.key}</th>
          <th>{text.columns.name}</th>
          <th className="list-wide">{text.columns.seen}</th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={group.group_key} className="list-row" {...(group.group_key === open && { 'data-open': '' })}>
            <td>
              <button
                type="button"
                className="link-button row-link mono"
                data-row={group.group_key}
                onClick={() => onOpen(group.group_key)}
              >
                {escapeInvisible(group.group_key)}
              </button>
            </td>
            <td>{escapeInvisible(getGroupName(group) ?? '')}</td>
            <td className="list-wide quiet">
              <time dateTime={group.created_at} title={formatTime(group.created_at, timezone)}>
                {formatAgo(group.created_at)}
              </time>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function NoGroup({ type, isNarrowed, onAll }: { type: GroupType; isNarrowed: boolean; onAll: () => void }) {
  if (!isNarrowed) {
    return (
      <EmptyState title={text.noneOfType(escapeInvisible(type.group_type))} icon="groups">
        <p className="quiet">{text.noneOfTypeText}</p>
        <HowToSend type={type.group_type} />
      </EmptyState>
    );
  }
  return (
    <EmptyState title={text.noMatchTitle} icon="groups">
      <p className="quiet">{text.noMatch}</p>
      <div className="form-buttons">
        <Button onPress={onAll}>{text.showAll}</Button>
      </div>
    </EmptyState>
  );
}

const NoType = () => (
  <div className="panel groups-none">
    <EmptyState title={text.emptyTitle} icon="groups">
      <p className="quiet">{text.empty}</p>
      <HowToSend type="company" />
    </EmptyState>
  </div>
);

function HowToSend({ type }: { type: string }) {
  const { api_token: key } = useProject();
  const program = `posthog.group(${JSON.stringify(type)}, "acme", { name: "Acme Ltd" });`;
  const event = {
    api_key: key,
    event: '$groupidentify',
    distinct_id: 'ada',
    properties: { $group_type: type, $group_key: 'acme', $group_set: { name: 'Acme Ltd' } },
  };
  const body = JSON.stringify(event, null, 2).replaceAll("'", '\\u0027');
  const command = `curl ${getIngestUrl()}/i/v0/e/ \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
  return (
    <>
      {(
        [
          [text.how, program],
          [text.fromTerminal, command],
        ] as const
      ).map(([title, code]) => (
        <div key={title} className="form groups-how">
          <p className="quiet">{title}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
          <pre className="code code-wrap" tabIndex={0}>
            {code}
          </pre>
          <div className="form-buttons">
            <CopyButton text={code} />
          </div>
        </div>
      ))}
    </>
  );
}
