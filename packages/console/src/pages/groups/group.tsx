import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { type ApiCall, call, readCursor } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { formatPersonSubtitle, formatPersonTitle, type NamedPerson } from '../../event-detail/person-name.tsx';
import { PropertyList, toSortedMembers } from '../../event-detail/properties.tsx';
import { EventTimeline } from '../../event-detail/timeline.tsx';
import { useProject } from '../../frame/project.ts';
import { useRecordTitle } from '../../frame/record-title.ts';
import { formatAgo } from '../../parts/ago.ts';
import { CopyButton } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { formatNumber } from '../../words.ts';
import { type GroupsUrlState, spans } from './address.ts';
import { type Group, type GroupType, getGroupName } from './shapes.ts';
import { text } from './words.ts';

/** A group's details: its properties, persons and events. */
export function GroupDetail({ type, address }: { type: GroupType; address: GroupsUrlState }) {
  const { id } = useProject();
  const { view, change } = address;
  const request: ApiCall = {
    path: `/api/projects/${id}/groups/find`,
    query: { group_type_index: type.group_type_index, group_key: view.key },
  };
  const query = useQuery({
    queryKey: ['groups', id, 'one', type.group_type_index, view.key],
    queryFn: ({ signal }) => call<Group>(request, signal),
  });
  const close = () => change({ key: '', tab: 'properties' });
  return (
    <SidePanel
      title={view.key}
      onClose={close}
      head={query.data && <Head group={query.data} request={request} onClose={close} />}
    >
      <QueryContent query={query} what={text.group}>
        {(group) => <Body group={group} address={address} />}
      </QueryContent>
    </SidePanel>
  );
}

function Head({ group, request, onClose }: { group: Group; request: ApiCall; onClose: () => void }) {
  useRecordTitle(escapeInvisible(getGroupName(group) ?? group.group_key));
  const { timezone } = useProject();
  return (
    <div className="detail-head">
      <div className="detail-title">
        <h2>{escapeInvisible(getGroupName(group) ?? group.group_key)}</h2>
        <CloseButton label={text.close} onClose={onClose} />
      </div>
      <p className="quiet">
        <code>{escapeInvisible(group.group_key)}</code> ·{' '}
        <time dateTime={group.created_at} title={formatTime(group.created_at, timezone)}>
          {text.firstSeen(formatAgo(group.created_at))}
        </time>
      </p>
      <div className="form-buttons">
        <CopyButton text={() => JSON.stringify(group, null, 2)}>{text.copyJson}</CopyButton>
        <AsApiCallButton request={request} />
      </div>
    </div>
  );
}

function Body({ group, address }: { group: Group; address: GroupsUrlState }) {
  const { view, change } = address;
  const names = Object.keys(text.tabs) as (keyof typeof text.tabs)[];
  return (
    <Tabs
      className="detail-tabs"
      selectedKey={view.tab}
      onSelectionChange={(tab) => change({ tab: names.find((name) => name === tab) ?? 'properties' })}
    >
      <TabList className="tabs" aria-label={group.group_key}>
        {names.map((name) => (
          <Tab key={name} id={name} className="tab">
            {text.tabs[name]}
          </Tab>
        ))}
      </TabList>
      <TabPanel id="properties" className="detail-body">
        <OwnProperties group={group} />
      </TabPanel>
      <TabPanel id="members" className="detail-body">
        <SpanChoice address={address} />
        <Members group={group} after={view.after} />
      </TabPanel>
      <TabPanel id="events" className="detail-body">
        <SpanChoice address={address} />
        <Events group={group} after={view.after} />
      </TabPanel>
    </Tabs>
  );
}

function OwnProperties({ group: { group_properties: properties } }: { group: Group }) {
  const members = useMemo(() => toSortedMembers(properties), [properties]);
  if (members.length > 0) return <PropertyList members={members} by="property" actions={{}} />;
  return (
    <EmptyState title={text.noPropertiesTitle} icon="groups">
      <p className="quiet">{text.noProperties}</p>
    </EmptyState>
  );
}

function SpanChoice({ address: { view, change } }: { address: GroupsUrlState }) {
  return (
    <label className="groups-span">
      <span className="quiet">{text.since}</span>
      <select
        className="input"
        value={view.after}
        onChange={({ target }) => change({ after: spans.find((span) => span === target.value) ?? '-30d' })}
      >
        {spans.map((span) => (
          <option key={span} value={span}>
            {text.spans[span]}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Member extends NamedPerson {
  uuid: string;
  event_count: number;
  last_event_at: string | null;
}

function Members({ group: { group_type_index, group_key }, after }: { group: Group; after: string }) {
  const { id, timezone } = useProject();
  const request: ApiCall = {
    path: `/api/projects/${id}/groups/members`,
    query: { group_type_index, group_key, after, limit: 50 },
  };
  const query = useInfiniteQuery({
    queryKey: ['groups', id, 'members', request.query],
    queryFn: ({ pageParam, signal }) =>
      call<{ results: Member[]; next: string | null }>(
        { ...request, query: { ...request.query, cursor: pageParam } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  return (
    <QueryContent query={query} what={text.members}>
      {({ pages }) => {
        const members = pages.flatMap(({ results }) => results);
        if (members.length === 0) {
          return (
            <EmptyState title={text.noMembersTitle} icon="persons">
              <p className="quiet">{text.noMembers}</p>
            </EmptyState>
          );
        }
        return (
          <>
            <p className="quiet detail-note">{text.membersHint}</p>
            <table className="table" aria-label={text.members}>
              <thead>
                <tr>
                  <th>{text.memberColumns.person}</th>
                  <th className="number">{text.memberColumns.events}</th>
                  <th>{text.memberColumns.last}</th>
                </tr>
              </thead>
              <tbody>
                {members.map(({ uuid, event_count: count, last_event_at: last, ...member }) => (
                  <tr key={uuid}>
                    <td className="groups-member">
                      <Link to={`/projects/${id}/persons`} search={{ person: uuid } as never}>
                        {formatPersonTitle(member)}
                      </Link>
                      <span className="hint">{formatPersonSubtitle(member)}</span>
                    </td>
                    <td className="number">{formatNumber(count)}</td>
                    <td className="quiet">
                      {last && (
                        <time dateTime={last} title={formatTime(last, timezone)}>
                          {formatAgo(last)}
                        </time>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <LoadMoreButton query={query} label={text.moreMembers} />
            <div className="form-buttons list-more">
              <AsApiCallButton request={request} />
            </div>
          </>
        );
      }}
    </QueryContent>
  );
}

function Events({ group: { group_type_index: index, group_key: value }, after }: { group: Group; after: string }) {
  const { id } = useProject();
  const properties = JSON.stringify([{ key: `$group_${index}`, operator: 'exact', value, type: 'event' }]);
  return (
    <>
      <p className="detail-note">
        <Link to={`/projects/${id}/events`} search={{ properties, after } as never}>
          {text.openInEvents}
        </Link>
      </p>
      <EventTimeline
        what={text.events}
        filter={{ properties, after }}
        empty={
          <EmptyState title={text.noEventsTitle} icon="events">
            <p className="quiet">{text.noEvents}</p>
          </EmptyState>
        }
      />
    </>
  );
}
