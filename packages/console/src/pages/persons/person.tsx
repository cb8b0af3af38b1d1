import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { ApiProblem, call, cursorOf } from '../../api/request.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Aside, CloseButton } from '../../parts/aside.tsx';
import { Button, CopyButton } from '../../parts/button.tsx';
import { Empty, Failed, Loaded } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import type { PersonsAddress } from './address.ts';
import { DeletePerson, Deletion } from './deletion.tsx';
import type { Cursor, Person } from './shapes.ts';
import { text } from './words.ts';

/** A person beside the list. Of one who was deleted, how far the work is. */
export function PersonDetail({ id, address }: { id: string; address: PersonsAddress }) {
  const project = useProject();
  const query = useQuery({
    queryKey: ['persons', project.id, 'one', id],
    queryFn: ({ signal }) =>
      call<Person>({ path: `/api/projects/${project.id}/persons/${encodeURIComponent(id)}` }, signal),
  });
  const close = () => address.change({ person: '', tab: 'properties' });
  const person = query.data;
  if (query.error instanceof ApiProblem && query.error.status === 404) {
    return (
      <Aside title={text.deletion.title2} onClose={close}>
        <Deletion id={id} otherwise={<Failed what={text.person} error={query.error} />} />
      </Aside>
    );
  }
  return (
    <Aside
      title={person?.name ?? ''}
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
      <Loaded query={query} what={text.person}>
        {(data) => <Body person={data} address={address} />}
      </Loaded>
    </Aside>
  );
}

function Head({ person, onClose, onDeleted }: { person: Person; onClose: () => void; onDeleted: () => void }) {
  const { timezone } = useProject();
  const mayDelete = useHasLevel(1);
  const [isDeleting, setDeleting] = useState(false);
  return (
    <div className="detail-head">
      <div className="detail-title">
        <h2>{person.name}</h2>
        <CloseButton label={text.close} onClose={onClose} />
      </div>
      <p className="quiet">
        <time dateTime={person.created_at} title={formatTime(person.created_at, timezone)}>
          {text.firstSeen(formatAgo(person.created_at))}
        </time>{' '}
        · {person.is_identified ? text.identified : text.anonymous} · {text.idCount(person.distinct_ids.length)}
      </p>
      <div className="form-buttons">
        <CopyButton text={() => JSON.stringify(person, null, 2)}>{text.copyJson}</CopyButton>
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

function Body({ person, address: { view, change } }: { person: Person; address: PersonsAddress }) {
  const names = Object.keys(text.tabs) as (keyof typeof text.tabs)[];
  return (
    <Tabs
      className="person-tabs"
      selectedKey={view.tab}
      onSelectionChange={(tab) => change({ tab: names.find((name) => name === tab) ?? 'properties' })}
    >
      <TabList className="tabs" aria-label={person.name}>
        {names.map((name) => (
          <Tab key={name} id={name} className="tab">
            {text.tabs[name]}
          </Tab>
        ))}
      </TabList>
      <TabPanel id="properties" className="detail-body">
        <Properties properties={person.properties} />
      </TabPanel>
      <TabPanel id="ids" className="detail-body">
        <p className="quiet person-note">{text.idsHint}</p>
        <Facts facts={[[text.uuid, person.uuid], ...person.distinct_ids.map((id, at) => [`${at + 1}`, id] as const)]} />
      </TabPanel>
      <TabPanel id="events" className="detail-body">
        <Events person={person} />
      </TabPanel>
      <TabPanel id="flags" className="detail-body">
        <Flags person={person} />
      </TabPanel>
    </Tabs>
  );
}

const shown = (value: unknown) => JSON.stringify(value, null, 2) ?? 'null';

function Properties({ properties }: { properties: Record<string, unknown> }) {
  const all = Object.entries(properties).sort(([one], [other]) => (one < other ? -1 : 1));
  const own = all.filter(([key]) => !key.startsWith('$'));
  const ofLibrary = all.filter(([key]) => key.startsWith('$'));
  if (all.length === 0) {
    return (
      <Empty title={text.noPropertiesTitle} icon="persons">
        <p className="quiet">{text.noProperties}</p>
      </Empty>
    );
  }
  return (
    <>
      <Facts facts={own.map(([key, value]) => [key, shown(value)])} />
      {ofLibrary.length > 0 && (
        <details>
          <summary className="fold">{text.dollar(ofLibrary.length)}</summary>
          <Facts facts={ofLibrary.map(([key, value]) => [key, shown(value)])} />
        </details>
      )}
    </>
  );
}

function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="mono person-value">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface StoredEvent {
  uuid: string;
  event: string;
  timestamp: string;
  properties: Record<string, unknown>;
}

function Events({ person: { uuid } }: { person: Person }) {
  const { id, timezone } = useProject();
  const query = useInfiniteQuery({
    queryKey: ['persons', id, 'events', uuid],
    queryFn: ({ pageParam, signal }) =>
      call<Cursor<StoredEvent>>(
        { path: `/api/projects/${id}/events`, query: { person_id: uuid, limit: 50, cursor: pageParam } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
  });
  return (
    <Loaded query={query} what={text.events}>
      {({ pages }) => {
        const events = pages.flatMap(({ results }) => results);
        if (events.length === 0) {
          return (
            <Empty title={text.noEventsTitle} icon="events">
              <p className="quiet">{text.noEvents}</p>
            </Empty>
          );
        }
        return (
          <>
            <ol className="person-events">
              {events.map(({ uuid: eventId, event, timestamp, properties }) => (
                <li key={eventId}>
                  <time className="mono quiet" dateTime={timestamp}>
                    {formatTime(timestamp, timezone)}
                  </time>
                  <strong>{event}</strong>
                  <span className="cut quiet">{String(properties.$current_url ?? properties.$screen_name ?? '')}</span>
                </li>
              ))}
            </ol>
            {query.hasNextPage && (
              <div className="form-buttons person-more">
                <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
                  {text.moreEvents}
                </Button>
              </div>
            )}
          </>
        );
      }}
    </Loaded>
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
    <Loaded query={query} what={text.flags}>
      {(flags) =>
        Object.keys(flags).length === 0 ? (
          <Empty title={text.noFlagsTitle} icon="flags">
            <p className="quiet">{text.noFlags}</p>
          </Empty>
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
    </Loaded>
  );
}
