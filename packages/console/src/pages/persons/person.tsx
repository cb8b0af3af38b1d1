import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { useOffsetPages } from '../../api/offset-pages.ts';
import { ApiProblem, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { Avatar, findPersonName, formatPersonSubtitle, formatPersonTitle } from '../../event-detail/person-name.tsx';
import { PropertyList, toSortedMembers } from '../../event-detail/properties.tsx';
import { EventTimeline } from '../../event-detail/timeline.tsx';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { useRecordTitle } from '../../frame/record-title.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { EmptyState, ErrorState, explainError, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import type { PersonsUrlState } from './address.ts';
import { DeletePerson, DeletionStatus } from './deletion.tsx';
import { DistinctIds } from './ids.tsx';
import { type Cursor, formatDevice, formatLocation, type Person } from './shapes.ts';
import { text } from './words.ts';

/** Shows a person's details or, for a deleted person, the progress of the deletion. */
export function PersonDetail({ id, address }: { id: string; address: PersonsUrlState }) {
  const project = useProject();
  const query = useQuery({
    queryKey: ['persons', project.id, 'one', id],
    queryFn: ({ signal }) =>
      call<Person>({ path: `/api/projects/${project.id}/persons/${encodeURIComponent(id)}` }, signal),
  });
  const close = () => address.change({ person: '', tab: 'properties' });
  const person = query.data;
  useRecordTitle(person ? formatPersonTitle(person) : '');
  if (query.error instanceof ApiProblem && query.error.status === 404) {
    return (
      <SidePanel title={text.deletion.title2} onClose={close}>
        <DeletionStatus id={id} otherwise={<ErrorState what={text.person} error={query.error} />} />
      </SidePanel>
    );
  }
  return (
    <SidePanel
      title={person ? formatPersonTitle(person) : ''}
      onClose={close}
      head={
        person && (
          <Head
            person={person}
            onClose={close}
            onDeleted={() => address.change({ person: person.uuid }, { replace: true })}
          />
        )
      }
    >
      <QueryContent query={query} what={text.person}>
        {(data) => <Body person={data} address={address} />}
      </QueryContent>
    </SidePanel>
  );
}

function Head({ person, onClose, onDeleted }: { person: Person; onClose: () => void; onDeleted: () => void }) {
  const { id: projectId, timezone } = useProject();
  const mayDelete = useHasLevel(1);
  const [isDeleting, setDeleting] = useState(false);
  return (
    <div className="detail-head">
      <div className="detail-title">
        <Avatar name={formatPersonTitle(person)} />
        <h2>
          {formatPersonTitle(person)}
          {findPersonName(person.properties) !== '' && (
            <span className="hint person-subtitle">{formatPersonSubtitle(person)}</span>
          )}
        </h2>
        <CloseButton label={text.close} onClose={onClose} />
      </div>
      <LastSeen person={person} />
      <p className="quiet">
        <time dateTime={person.created_at} title={formatTime(person.created_at, timezone)}>
          {text.firstSeen(formatPast(person.created_at))}
        </time>{' '}
        · {person.is_identified ? text.identified : text.anonymous} · {text.idCount(person.distinct_ids.length)}
      </p>
      <div className="form-buttons">
        <CopyButton text={() => JSON.stringify(person, null, 2)}>{text.copyJson}</CopyButton>
        <AsApiCallButton request={{ path: `/api/projects/${projectId}/persons/${person.uuid}` }} />
        {mayDelete && (
          <Button look="danger" onPress={() => setDeleting(true)}>
            {text.remove}
          </Button>
        )}
      </div>
      {isDeleting && <DeletePerson person={person} onClose={() => setDeleting(false)} onDeleted={onDeleted} />}
    </div>
  );
}

/**
 * Shows the time, location and device of the person's latest event. If the event does not contain the location or
 * device, shows the person's properties.
 */
function LastSeen({ person: { uuid, properties } }: { person: Person }) {
  const { id, timezone } = useProject();
  const { data, error } = useQuery({
    queryKey: ['events', id, 'latest of person', uuid],
    queryFn: ({ signal }) =>
      call<Cursor<LatestEvent>>({ path: `/api/projects/${id}/events`, query: { person_id: uuid, limit: 1 } }, signal),
  });
  const [event] = data?.results ?? [];
  const facts = [
    [text.location, formatLocation(event?.properties ?? {}) || formatLocation(properties)],
    [text.device, formatDevice(event?.properties ?? {}) || formatDevice(properties)],
  ].filter(([, value]) => value !== '');
  return (
    <p className="person-facts">
      {event && (
        <time dateTime={event.timestamp} title={formatTime(event.timestamp, timezone)}>
          {text.lastSeen(formatPast(event.timestamp))}
        </time>
      )}
      {error && (
        <span className="bad" role="alert">
          {text.lastSeenFailed(explainError(error))}
        </span>
      )}
      {facts.map(([label, value]) => (
        <span key={label}>
          <span className="only-heard">{label}: </span>
          {value}
        </span>
      ))}
    </p>
  );
}

interface LatestEvent {
  timestamp: string;
  properties: Record<string, unknown>;
}

function Body({ person, address: { view, change } }: { person: Person; address: PersonsUrlState }) {
  const names = Object.keys(text.tabs) as (keyof typeof text.tabs)[];
  return (
    <Tabs
      className="detail-tabs"
      selectedKey={view.tab}
      onSelectionChange={(tab) => change({ tab: names.find((name) => name === tab) ?? 'properties' })}
    >
      <TabList className="tabs" aria-label={formatPersonTitle(person)}>
        {names.map((name) => (
          <Tab key={name} id={name} className="tab">
            {text.tabs[name]}
          </Tab>
        ))}
      </TabList>
      <TabPanel id="properties" className="detail-body">
        <OwnProperties properties={person.properties} />
      </TabPanel>
      <TabPanel id="ids" className="detail-body">
        <DistinctIds person={person} />
      </TabPanel>
      <TabPanel id="events" className="detail-body">
        <Events person={person} />
      </TabPanel>
      <TabPanel id="cohorts" className="detail-body">
        <PersonCohorts uuid={person.uuid} />
      </TabPanel>
      <TabPanel id="flags" className="detail-body">
        <Flags person={person} />
      </TabPanel>
    </Tabs>
  );
}

function OwnProperties({ properties }: { properties: Record<string, unknown> }) {
  const members = useMemo(() => toSortedMembers(properties), [properties]);
  if (members.length > 0) return <PropertyList members={members} by="person" actions={{}} />;
  return (
    <EmptyState title={text.noPropertiesTitle} icon="persons">
      <p className="quiet">{text.noProperties}</p>
    </EmptyState>
  );
}

function Events({ person: { uuid } }: { person: Person }) {
  return (
    <EventTimeline
      what={text.events}
      filter={{ person_id: uuid }}
      empty={
        <EmptyState title={text.noEventsTitle} icon="events">
          <p className="quiet">{text.noEvents}</p>
        </EmptyState>
      }
    />
  );
}

function Flags({ person: { distinct_ids: ids } }: { person: Person }) {
  const { id } = useProject();
  const distinctId = ids[0] ?? '';
  const query = useQuery({
    queryKey: ['flags', id, 'of person', distinctId],
    queryFn: ({ signal }) =>
      call<Record<string, { value: boolean | string; evaluation: { description: string } }>>(
        { path: `/api/projects/${id}/feature_flags/evaluation_reasons`, query: { distinct_id: distinctId } },
        signal,
      ),
  });
  return (
    <QueryContent query={query} what={text.flags}>
      {(flags) =>
        Object.keys(flags).length === 0 ? (
          <EmptyState title={text.noFlagsTitle} icon="flags">
            <p className="quiet">{text.noFlags}</p>
          </EmptyState>
        ) : (
          <dl className="facts">
            {Object.entries(flags)
              .sort(([one], [other]) => (one < other ? -1 : 1))
              .map(([key, { value, evaluation }]) => (
                <div key={key}>
                  <dt className="mono">
                    <Link to={`/projects/${id}/flags`} search={{ search: key } as never}>
                      {key}
                    </Link>
                  </dt>
                  <dd>
                    <span className={value === false ? 'pill' : 'pill pill-good'}>{String(value)}</span>{' '}
                    <span className="quiet">{evaluation.description}</span>
                  </dd>
                </div>
              ))}
          </dl>
        )
      }
    </QueryContent>
  );
}

function PersonCohorts({ uuid }: { uuid: string }) {
  const { id } = useProject();
  const request = { path: `/api/projects/${id}/persons/cohorts`, query: { person_id: uuid } };
  const query = useOffsetPages<{ id: number; name: string | null }>(['cohorts', id, 'of person'], request);
  return (
    <QueryContent query={query} what={text.cohorts}>
      {({ rows }) =>
        rows.length === 0 ? (
          <EmptyState title={text.noCohortsTitle} icon="cohorts">
            <p className="quiet">{text.noCohorts}</p>
          </EmptyState>
        ) : (
          <>
            <ul className="person-cohorts">
              {rows.map((cohort) => (
                <li key={cohort.id}>
                  <Link to={`/projects/${id}/cohorts`} search={{ cohort: String(cohort.id) } as never}>
                    {escapeInvisible(cohort.name || String(cohort.id))}
                  </Link>
                </li>
              ))}
            </ul>
            <LoadMoreButton query={query} />
          </>
        )
      }
    </QueryContent>
  );
}
