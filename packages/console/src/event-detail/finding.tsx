// Shows the details of an ingestion warning, with links to its cause.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProject } from '../frame/project.ts';
import { formatNumber } from '../words.ts';
import { escapeInvisible } from './json-text.ts';
import { text } from './words.ts';
import './event-detail.css';

export type Facts = Record<string, unknown>;

export function WarningDetails({ details, isStored }: { details: Facts; isStored: boolean }) {
  const { samples, ...own } = details;
  const listed = Array.isArray(samples)
    ? samples.filter((one): one is Facts => typeof one === 'object' && one !== null)
    : [];
  const all = [...(Object.keys(own).length > 0 ? [own] : []), ...listed];
  if (all.length === 0) return <p className="quiet">{text.noDetails}</p>;
  return all.map((facts, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: samples of a warning never change
    <dl key={at} className="finding">
      {Object.entries(facts)
        .filter(([, value]) => value !== null)
        .sort(([one], [other]) => rankOf(one) - rankOf(other))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{text.findings[name] ?? escapeInvisible(name)}</dt>
            <dd>
              <Value name={name} value={value} facts={facts} isStored={isStored} />
            </dd>
          </div>
        ))}
    </dl>
  ));
}

/** Returns the sort position of a detail. Important details have low positions. */
function rankOf(name: string): number {
  const at = Object.keys(text.findings).indexOf(name);
  return at === -1 ? Number.MAX_SAFE_INTEGER : at;
}

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const topicPattern = /\b(live|historical|overflow)$/;

interface ValueProps {
  name: string;
  value: unknown;
  facts: Facts;
  isStored: boolean;
}

function Value({ name, value, facts, isStored }: ValueProps): ReactNode {
  const { id } = useProject();
  const shown = escapeInvisible(typeof value === 'string' ? value : JSON.stringify(value));
  const to = (page: string, search: Record<string, string>) => (
    <Link to={`/projects/${id}/${page}`} search={search as never} className="mono">
      {shown}
    </Link>
  );
  if (typeof value === 'number' && /bytes/i.test(name)) return <strong>{text.bytes(formatNumber(value))}</strong>;
  if (typeof value !== 'string') return <span className="mono">{shown}</span>;
  if (idNames.has(name)) return to('events', { distinct_id: value, after: '-7d' });
  if (name === 'personId') return to('persons', { person: value });
  if (isStored && ['uuid', 'eventUuid', 'firstEventUuid'].includes(name) && uuidPattern.test(value))
    return to('events', { open: value });
  const topic = name === 'offset' && topicPattern.exec(String(facts.topic))?.[1];
  if (topic) return to('warnings', { tab: 'letters', state: 'all', letter: `${topic}-${facts.partition}-${value}` });
  return name === 'event' ? <strong>{shown}</strong> : <span className="mono">{shown}</span>;
}

const idNames = new Set([
  'distinctId',
  'distinct_id',
  'sourceDistinctId',
  'targetDistinctId',
  'otherDistinctId',
  'illegalDistinctId',
]);
