// The panel with the details of a stored event. Several pages show this panel.

import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { useHealth } from '../api/queries.ts';
import { ApiProblem, getIngestUrl, quoteForShell, sendRequest } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { EmptyState, QueryContent } from '../parts/states.tsx';
import { words } from '../words.ts';
import { escapeInvisible, findMember, formatJsonValue, indentJson, parseMembers } from './json-text.ts';
import { findPersonName } from './person-name.tsx';
import { LongText, PropertyList, PropertyValue, type ValueActions } from './properties.tsx';
import { EventTimes } from './times.tsx';
import { text } from './words.ts';
import './event-detail.css';

export type DetailTab = 'properties' | 'person' | 'raw';

/** Loads an event as JSON text, exactly as the API returned it. */
export function useEventJson(uuid: string) {
  const { id } = useProject();
  return useQuery({
    queryKey: ['event', id, uuid],
    enabled: uuid !== '',
    queryFn: async ({ signal }) => {
      const response = await sendRequest({ path: `/api/projects/${id}/events/${uuid}` }, signal);
      return response.text();
    },
  });
}

interface EventDetailProps {
  zone: string;
  tab: DetailTab;
  onTab: (tab: DetailTab) => void;
  onClose: () => void;
  actions: ValueActions;
  /** Whether the panel takes the focus when an event opens. If false, the list's shortcuts keep working. */
  takesFocus?: boolean;
  children?: ReactNode;
}

/** The details of a stored event: its properties, person and timestamps, and actions for copying or resending it. */
export function EventDetail({
  event,
  ...props
}: EventDetailProps & {
  event: ReturnType<typeof useEventJson>;
}) {
  if (event.error instanceof ApiProblem && event.error.status === 404)
    return <NotStored onAgain={() => void event.refetch()} onClose={props.onClose} />;
  return (
    <QueryContent query={event} what={text.what}>
      {(json) => <Stored json={json} {...props} />}
    </QueryContent>
  );
}

/** Shown if no event with this UUID is stored. The user can try again, because the event may still be in the queue. */
function NotStored({ onAgain, onClose }: { onAgain: () => void; onClose: () => void }) {
  const { data } = useHealth(useProject().id);
  return (
    <EmptyState title={text.goneTitle} icon="gone">
      <p className="quiet">{text.gone(data?.visible_after_seconds ?? null)}</p>
      <div className="form-buttons">
        <Button look="main" onPress={onAgain}>
          {words.again}
        </Button>
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </EmptyState>
  );
}

function Stored({
  json,
  zone,
  tab,
  onTab,
  onClose,
  actions,
  takesFocus = true,
  children,
}: EventDetailProps & { json: string }) {
  const project = useProject();
  const event = useMemo(() => new Map(parseMembers(json)), [json]);
  const person = event.get('person') ?? '{}';
  const personId = formatJsonValue(findMember(person, 'uuid') ?? '""');
  const name = formatJsonValue(event.get('event') ?? '""');
  return (
    <>
      <div className="detail-head">
        <DetailTitle
          name={escapeInvisible(name)}
          focusKey={takesFocus ? (event.get('uuid') ?? '') : null}
          onClose={onClose}
        />
        <p className="cut">
          <strong>{escapeInvisible(findPersonName(JSON.parse(findMember(person, 'properties') ?? '{}')))}</strong>{' '}
          <code className="quiet">
            {escapeInvisible(formatJsonValue(event.get('distinct_id') ?? '""').slice(0, 200))}
          </code>
        </p>
        <div className="form-buttons">
          <OpenPerson id={personId} onTab={onTab} />
          <CopyButton text={() => curlOfEvent(json, project.api_token)}>{text.copyCurl}</CopyButton>
          <CopyButton text={json}>{text.copyJson}</CopyButton>
        </div>
        {children}
      </div>
      <Tabs className="detail-tabs" selectedKey={tab} onSelectionChange={(key) => onTab(key as DetailTab)}>
        <TabList className="tabs" aria-label={text.tabList}>
          {(['properties', 'person', 'raw'] as const).map((id) => (
            <Tab key={id} id={id} className="tab">
              {text.tabs[id]}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="properties" className="detail-body">
          <PropertyList
            key={json}
            members={parseMembers(event.get('properties') ?? '{}')}
            by="property"
            actions={actions}
          />
          <h3 className="detail-heading">{text.times}</h3>
          <EventTimes event={event} zone={zone} />
          <dl className="facts">
            <Fact name={text.facts.event}>
              <PropertyValue name={text.facts.event} json={event.get('event') ?? '""'} by="event" actions={actions} />
            </Fact>
            <Fact name={text.facts.distinctId}>
              <PropertyValue
                name={text.facts.distinctId}
                json={event.get('distinct_id') ?? '""'}
                by="distinct_id"
                actions={actions}
              />
            </Fact>
            <Fact name={text.facts.uuid}>
              <code>{formatJsonValue(event.get('uuid') ?? '""')}</code>
            </Fact>
          </dl>
        </TabPanel>
        <TabPanel id="person" className="detail-body">
          <Person json={person} actions={actions} />
        </TabPanel>
        <TabPanel id="raw" className="detail-body detail-raw">
          <Raw json={json} />
        </TabPanel>
      </Tabs>
    </>
  );
}

/** The panel's title. It takes the focus when an event opens, so that screen readers start reading at the title. */
function DetailTitle({
  name,
  focusKey,
  onClose,
}: {
  name: string;
  /** When this key changes, the title takes the focus. A null key never moves the focus. */
  focusKey: string | null;
  onClose: () => void;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focusKey !== null) heading.current?.focus({ preventScroll: true });
  }, [focusKey]);
  return (
    <div className="detail-title">
      <h2 ref={heading} tabIndex={-1}>
        {name.length > 300 ? `${name.slice(0, 300)}…` : name}
      </h2>
      <span className="key" aria-hidden="true">
        j
      </span>
      <span className="key" aria-hidden="true">
        k
      </span>
      <Button look="plain" aria-label={text.close} onPress={onClose}>
        <Icon name="close" size={12} />
      </Button>
    </div>
  );
}

/**
 * A button that opens the event's person, even after a merge. In a router without person pages, it opens the panel's
 * Person tab.
 */
function OpenPerson({ id, onTab }: { id: string; onTab: (tab: DetailTab) => void }) {
  const project = useProject();
  const { routesByPath } = useRouter();
  if (!Object.hasOwn(routesByPath, '/projects/$projectId/persons'))
    return <Button onPress={() => onTab('person')}>{text.openPerson}</Button>;
  return (
    <Link className="button" to={`/projects/${project.id}/persons`} search={{ person: id } as never}>
      {text.openPerson}
    </Link>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Person({ json, actions }: { json: string; actions: ValueActions }) {
  const ids = JSON.parse(findMember(json, 'distinct_ids') ?? '[]') as string[];
  return (
    <>
      <PropertyList
        key={json}
        members={parseMembers(findMember(json, 'properties') ?? '{}')}
        by="person"
        actions={actions}
      />
      <dl className="facts">
        <Fact name={text.facts.person}>
          <code>{formatJsonValue(findMember(json, 'uuid') ?? '""')}</code>
        </Fact>
        <Fact name={text.facts.ids}>
          {ids.map((id) => (
            <div key={id}>
              <PropertyValue
                name={text.facts.distinctId}
                json={JSON.stringify(id)}
                by="distinct_id"
                actions={actions}
              />
            </div>
          ))}
        </Fact>
      </dl>
    </>
  );
}

function Raw({ json }: { json: string }) {
  const indented = useMemo(() => indentJson(json), [json]);
  return <LongText value={indented} />;
}

/** Maximum length of a shell argument. A longer request body is passed as a here-document. */
const longestArgument = 100_000;

/**
 * Returns a shell command that sends the event again with the project's public API key. The resent event gets a new
 * UUID and timestamp.
 */
function curlOfEvent(json: string, key: string): string {
  const event = new Map(parseMembers(json));
  const fields = ['event', 'distinct_id', 'properties'].map((name) => `"${name}":${event.get(name)}`);
  const body = `{"api_key":${JSON.stringify(key)},${fields.join(',')}}`;
  const command = `curl -sS ${quoteForShell(`${getIngestUrl()}/i/v0/e/`)} \\\n  -H 'Content-Type: application/json' \\\n  --data-binary `;
  if (body.length < longestArgument) return `${command}${quoteForShell(body)}`;
  return `${command}@- <<'END_OF_EVENT'\n${body}\nEND_OF_EVENT`;
}
