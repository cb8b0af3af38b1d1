import { type ReactNode, useState } from 'react';
import { ingestAddress } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { formatTime } from '../../parts/time.ts';
import { words } from '../../words.ts';
import { curlOfEvent } from './summary.ts';
import type { Row } from './use-live.ts';
import { text } from './words.ts';

export interface Filter {
  only: (name: 'event' | 'person', value: string) => void;
  without: (event: string) => void;
  property: (key: string, value: unknown, operator: 'exact' | 'is_not') => void;
}

/** One event: whose, when and why so, and what is in it. */
export function Detail({ row: { message }, filter, onClose }: { row: Row; filter: Filter; onClose: () => void }) {
  const { api_token: key } = useProject();
  const [isRaw, setRaw] = useState(false);
  const name = message.event ?? text.noName;
  return (
    <section className="detail" aria-label={name}>
      <div className="detail-head">
        <div className="detail-title">
          <h2>{name}</h2>
          <Button look="plain" aria-label={words.close} onPress={onClose}>
            <Icon name="close" size={12} />
          </Button>
        </div>
        <p className="mono quiet cut">{message.distinct_id}</p>
        {message.outcome !== 'stored' && <Reason message={message} />}
        <div className="form-buttons">
          <CopyButton text={() => curlOfEvent(message, key, ingestAddress())}>{text.copyCurl}</CopyButton>
          <Button onPress={() => filter.only('event', name)}>{text.only}</Button>
          <Button onPress={() => filter.without(name)}>{text.hide}</Button>
        </div>
      </div>
      <div className="tabs">
        {[false, true].map((raw) => (
          <button
            key={String(raw)}
            type="button"
            className="tab"
            aria-pressed={raw === isRaw}
            onClick={() => setRaw(raw)}
          >
            {raw ? text.raw : text.properties}
          </button>
        ))}
      </div>
      <div className="detail-body">{isRaw ? <Raw value={message} /> : <Facts row={message} filter={filter} />}</div>
    </section>
  );
}

function Reason({ message: { outcome, reason, rule, details } }: { message: Row['message'] }) {
  return (
    <div className={outcome === 'dropped' ? 'pill-bad live-reason' : 'pill-warn live-reason'}>
      <strong>{text.reason(reason ?? '')}</strong> {text.outcomeText[outcome]}
      {details && Object.keys(details).length > 0 && <code className="live-details">{JSON.stringify(details)}</code>}
      {rule && <span className="hint">{text.rule(rule)}</span>}
    </div>
  );
}

function Facts({ row: message, filter }: { row: Row['message']; filter: Filter }) {
  const { timezone } = useProject();
  const [typed, setTyped] = useState('');
  const all = Object.entries(message.properties).filter(([key]) => key.toLowerCase().includes(typed.toLowerCase()));
  const own = all.filter(([key]) => !key.startsWith('$'));
  const others = all.filter(([key]) => key.startsWith('$'));
  const time = (iso: string | undefined) => (iso ? <span className="mono">{formatTime(iso, timezone)}</span> : null);
  return (
    <>
      <div className="live-find">
        <input
          className="input"
          aria-label={text.findProperty}
          placeholder={text.findProperty}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <dl className="facts">
        {own.map(([key, value]) => (
          <Property key={key} name={key} value={value} filter={filter} />
        ))}
      </dl>
      {others.length > 0 && (
        <details open={typed !== ''}>
          <summary className="fold">{text.more(others.length)}</summary>
          <dl className="facts">
            {others.map(([key, value]) => (
              <Property key={key} name={key} value={value} filter={filter} />
            ))}
          </dl>
        </details>
      )}
      <dl className="facts">
        <Fact name={text.happened}>{time(message.timestamp)}</Fact>
        <Fact name={text.received}>{time(message.captured_at)}</Fact>
        <Fact name={text.storedAt}>{time(message.stored_at)}</Fact>
        <Fact name={text.personId}>{message.person_id && <span className="mono">{message.person_id}</span>}</Fact>
        <Fact name="uuid">{message.uuid && <span className="mono">{message.uuid}</span>}</Fact>
      </dl>
      <p className="hint live-why">{text.whyTimes(timezone)}</p>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Beginning of a value that would fill the page. */
const shownAtFirst = 2000;

function Property({ name, value, filter }: { name: string; value: unknown; filter: Filter }) {
  const [isWhole, setWhole] = useState(false);
  const [isChosen, setChosen] = useState(false);
  const whole = typeof value === 'object' && value !== null ? JSON.stringify(value, null, 1) : JSON.stringify(value);
  const isPlain = typeof value !== 'object' || value === null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <button type="button" className="facts-value" aria-expanded={isChosen} onClick={() => setChosen(!isChosen)}>
          {isWhole ? whole : whole?.slice(0, shownAtFirst)}
        </button>
        {!isWhole && whole !== undefined && whole.length > shownAtFirst && (
          <Button look="plain" onPress={() => setWhole(true)}>
            {text.showAll(whole.length)}
          </Button>
        )}
        {isChosen && (
          <span className="form-buttons">
            {isPlain && <Button onPress={() => filter.property(name, value, 'exact')}>{text.only}</Button>}
            {isPlain && <Button onPress={() => filter.property(name, value, 'is_not')}>{text.not}</Button>}
            <CopyButton text={whole ?? ''} />
          </span>
        )}
      </dd>
    </div>
  );
}

function Raw({ value }: { value: unknown }) {
  const raw = JSON.stringify(value, null, 2);
  return (
    <div className="live-raw">
      <CopyButton text={raw} />
      <pre className="code code-wrap">{raw.slice(0, 100_000)}</pre>
    </div>
  );
}
