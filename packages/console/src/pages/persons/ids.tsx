// A tab with a person's distinct IDs, and the events that merged persons with these IDs.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ApiCall, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import type { Person } from './shapes.ts';
import { text } from './words.ts';

interface Merges {
  distinct_ids: { distinct_id: string; moves: number; is_explained: boolean }[];
  merges: {
    uuid: string;
    event: string;
    timestamp: string;
    distinct_id: string;
    other_distinct_id: string;
    is_joined: boolean;
  }[];
}

export function DistinctIds({ person }: { person: Person }) {
  const { id } = useProject();
  const request: ApiCall = { path: `/api/projects/${id}/persons/${person.uuid}/merges` };
  const query = useQuery({
    queryKey: ['persons', id, 'merges', person.uuid],
    queryFn: ({ signal }) => call<Merges>(request, signal),
  });
  const movesOf = (distinctId: string) =>
    query.data?.distinct_ids.find(({ distinct_id: other }) => other === distinctId)?.moves ?? 0;
  return (
    <>
      <p className="quiet person-note">{text.idsHint}</p>
      <dl className="facts">
        <div>
          <dt>{text.uuid}</dt>
          <dd className="mono">{person.uuid}</dd>
        </div>
        {person.distinct_ids.map((distinctId, at) => (
          <div key={distinctId}>
            <dt>{at + 1}</dt>
            <dd className="mono person-value">
              {escapeInvisible(distinctId)}{' '}
              {movesOf(distinctId) > 0 && <span className="pill">{text.moved(movesOf(distinctId))}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {person.distinct_ids.length > 1 && (
        <>
          <h3 className="detail-heading">{text.merges}</h3>
          <p className="quiet person-note">{text.mergesHint}</p>
          <QueryContent query={query} what={text.merges}>
            {(merges) => <MergeList merges={merges} />}
          </QueryContent>
          <div className="form-buttons list-more">
            <AsApiCallButton request={request} />
          </div>
        </>
      )}
    </>
  );
}

function MergeList({ merges: { merges, distinct_ids: ids } }: { merges: Merges }) {
  const { id, timezone } = useProject();
  const unexplained = ids.filter(({ is_explained: isExplained }) => !isExplained);
  return (
    <>
      {merges.length === 0 && <p className="person-note">{text.noMerges}</p>}
      <ol className="person-merges">
        {merges.map(({ uuid, event, timestamp, distinct_id: own, other_distinct_id: other, is_joined: isJoined }) => (
          <li key={uuid}>
            <span>
              <Link to={`/projects/${id}/events`} search={{ open: uuid } as never}>
                <code>{event}</code>
              </Link>{' '}
              <time className="mono quiet" dateTime={timestamp}>
                {formatTime(timestamp, timezone)}
              </time>
            </span>
            <span className={isJoined ? '' : 'quiet'}>
              {isJoined
                ? text.joined(escapeInvisible(own), escapeInvisible(other))
                : text.notJoined(escapeInvisible(own), escapeInvisible(other))}
            </span>
          </li>
        ))}
      </ol>
      {unexplained.length > 0 && (
        <p className="person-note quiet">
          {text.unexplained(unexplained.length)}{' '}
          <code>{unexplained.map(({ distinct_id: distinctId }) => escapeInvisible(distinctId)).join(', ')}</code>
        </p>
      )}
    </>
  );
}
