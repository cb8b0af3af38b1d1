import { useQuery } from '@tanstack/react-query';
import { sendRequest } from '../../api/request.ts';
import { escapeInvisible, findMember, formatJsonValue, indentJson } from '../../event-detail/json-text.ts';
import { LongText } from '../../event-detail/properties.tsx';
import { text as ofEvents } from '../../event-detail/words.ts';
import { useProject } from '../../frame/project.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { RuleLink } from '../../parts/rule-link.tsx';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { formatNumber } from '../../words.ts';
import { type DeadLetter, type Decision, formatDeadLetterId } from './dead-letter.ts';
import { text as ofPage } from './words.ts';

const text = ofPage.deadLetters;

/** Shows a dead letter's error, advice, and the original record. */
export function DeadLetterDetail({
  id,
  zone,
  onDecide,
  onClose,
}: {
  id: string;
  zone: string;
  onDecide: (decision: Decision) => void;
  onClose: () => void;
}) {
  const project = useProject();
  const path = `/api/projects/${project.id}/dead_letters/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: ['warnings', project.id, 'letter', id],
    queryFn: async ({ signal }) => {
      const json = await (await sendRequest({ path }, signal)).text();
      return { deadLetter: JSON.parse(json) as DeadLetter, record: findMember(json, 'record') ?? 'null' };
    },
  });
  const deadLetter = query.data?.deadLetter;
  return (
    <SidePanel
      title={text.one}
      onClose={onClose}
      head={deadLetter && <Head deadLetter={deadLetter} onDecide={onDecide} onClose={onClose} />}
    >
      <QueryContent query={query} what={text.one}>
        {({ deadLetter: shown, record }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
          <section className="detail-body" tabIndex={0} aria-label={text.one}>
            <Facts deadLetter={shown} zone={zone} />
            <Record json={record} />
          </section>
        )}
      </QueryContent>
    </SidePanel>
  );
}

function Head({
  deadLetter: { id, detail, advice, event, state },
  onDecide,
  onClose,
}: {
  deadLetter: DeadLetter;
  onDecide: (decision: Decision) => void;
  onClose: () => void;
}) {
  const isWaiting = state === 'waiting';
  return (
    <div className="detail-head">
      <div className="detail-title">
        <h2>{escapeInvisible(event ?? text.noEvent)}</h2>
        <CloseButton label={ofPage.close} onClose={onClose} />
      </div>
      <p>
        <span className={isWaiting ? 'pill pill-bad' : 'pill'}>{text.states[state]}</span> {detail}
      </p>
      <p>
        <strong>{text.todo}.</strong> {advice}
      </p>
      <p>
        <RuleLink rule="docs/ingestion-rules.md#dead-letters" />
      </p>
      {isWaiting ? (
        <div className="form-buttons">
          <Button onPress={() => onDecide({ verb: 'replay', ids: [id] })}>{text.replay}</Button>
          <Button look="danger" onPress={() => onDecide({ verb: 'discard', ids: [id] })}>
            {text.discard}
          </Button>
        </div>
      ) : (
        <p className="quiet">{text.decided[state]}</p>
      )}
    </div>
  );
}

function Facts({ deadLetter, zone }: { deadLetter: DeadLetter; zone: string }) {
  const { id, reason, distinct_id: distinctId, captured_at: captured, dead_at: deadAt, bytes } = deadLetter;
  const { findings } = ofEvents;
  const facts: [string, string | null][] = [
    [findings.reason ?? '', reason],
    [findings.distinctId ?? '', distinctId],
    [text.place, formatDeadLetterId(id)],
    [text.captured, captured && formatTime(captured, zone)],
    [text.gaveUp, formatTime(deadAt, zone)],
    [text.size, ofEvents.bytes(formatNumber(bytes))],
  ];
  return (
    <dl className="facts">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="mono">{escapeInvisible(value)}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Record({ json }: { json: string }) {
  if (json === 'null') return <p className="warnings-note quiet">{text.noRecord}</p>;
  const shown = json.startsWith('"') ? formatJsonValue(json) : indentJson(json);
  return (
    <section className="dead-letters-record" aria-label={text.record}>
      <h3>{text.record}</h3>
      <CopyButton text={shown} />
      <LongText value={shown} />
    </section>
  );
}
