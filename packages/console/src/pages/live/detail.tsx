// The panel with the details of a live event, and the reason why the event was dropped or changed.

import { useState } from 'react';
import { type DetailTab, EventDetail, useEventJson } from '../../event-detail/event-detail.tsx';
import { WarningDetails } from '../../event-detail/finding.tsx';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { LongText } from '../../event-detail/properties.tsx';
import { useProject } from '../../frame/project.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { RuleLink } from '../../parts/rule-link.tsx';
import { CloseButton } from '../../parts/side-panel.tsx';
import { formatTime } from '../../parts/time.ts';
import { formatWarningType, words } from '../../words.ts';
import type { LiveMessage } from './messages.ts';
import { text } from './words.ts';

export interface Filter {
  only: (name: 'event' | 'person', value: string) => void;
  without: (event: string) => void;
  property: (filter: { key: string; value: string; operator: 'exact' | 'is_not'; type: 'event' | 'person' }) => void;
}

interface DetailProps {
  /** The event's message in the stream. Null if the event was opened from the URL. */
  message: LiveMessage | null;
  filter: Filter;
  onClose: () => void;
}

export function LiveEventDetail({ uuid, message, filter, onClose }: DetailProps & { uuid: string | null }) {
  const isStored = uuid !== null && message?.outcome !== 'dropped';
  return (
    <section className="detail" aria-label={message ? escapeInvisible(message.event ?? text.noName) : text.event}>
      {isStored && <Stored uuid={uuid} message={message} filter={filter} onClose={onClose} />}
      {!isStored && message && <NotStored message={message} filter={filter} onClose={onClose} />}
    </section>
  );
}

function Stored({ uuid, message, filter, onClose }: DetailProps & { uuid: string }) {
  const { timezone } = useProject();
  const [tab, setTab] = useState<DetailTab>('properties');
  const stored = useEventJson(uuid);
  return (
    <EventDetail
      event={stored}
      zone={timezone}
      tab={tab}
      onTab={setTab}
      onClose={onClose}
      takesFocus={false}
      actions={{
        onFilter(by, key, value, isNot) {
          if (by === 'event') filter.only('event', value);
          else if (by === 'distinct_id') filter.only('person', value);
          else {
            const type = by === 'person' ? 'person' : 'event';
            filter.property({ key, value, operator: isNot ? 'is_not' : 'exact', type });
          }
        },
      }}
    >
      {message && <ByName event={message.event} filter={filter} />}
      {message?.outcome === 'changed' && <Reason message={message} />}
    </EventDetail>
  );
}

/** Shows the available information about an event that was not stored: names and IDs, but no properties. */
function NotStored({ message, filter, onClose }: DetailProps & { message: LiveMessage }) {
  const { timezone } = useProject();
  const { event, distinct_id: distinctId, timestamp, uuid } = message;
  const raw = JSON.stringify(message, null, 2);
  return (
    <>
      <div className="detail-head">
        <div className="detail-title">
          <h2>{escapeInvisible(event ?? text.noName)}</h2>
          <CloseButton label={words.close} onClose={onClose} />
        </div>
        <p className="mono quiet cut">{escapeInvisible(distinctId ?? '')}</p>
        <Reason message={message} />
        <ByName event={event} filter={filter} />
      </div>
      <div className="detail-body">
        <dl className="facts">
          <div>
            <dt>{text.noticed}</dt>
            <dd className="mono">{formatTime(timestamp, timezone)}</dd>
          </div>
          {uuid !== null && (
            <div>
              <dt>{text.uuid}</dt>
              <dd className="mono">{uuid}</dd>
            </div>
          )}
        </dl>
        <div className="live-raw">
          <CopyButton text={raw}>{text.copyJson}</CopyButton>
          <LongText value={raw} />
        </div>
      </div>
    </>
  );
}

function ByName({ event, filter }: Pick<DetailProps, 'filter'> & { event: string | null }) {
  if (event === null) return null;
  return (
    <div className="form-buttons">
      <Button onPress={() => filter.only('event', event)}>{text.only}</Button>
      <Button onPress={() => filter.without(event)}>{text.hide}</Button>
    </div>
  );
}

function Reason({ message: { outcome, reason, detail, rule, details } }: { message: LiveMessage }) {
  return (
    <div className={outcome === 'dropped' ? 'pill-bad live-reason' : 'pill-warn live-reason'}>
      <strong>{formatWarningType(reason ?? '')}</strong> {detail}
      {details && Object.keys(details).length > 0 && (
        <WarningDetails details={details} isStored={outcome !== 'dropped'} />
      )}
      {rule && <RuleLink rule={rule} />}
    </div>
  );
}
