import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { formatTime } from '../../parts/time.ts';
import { type Activity, Change } from './change.tsx';
import { RecordLink } from './record-link.tsx';
import { text } from './words.ts';

const byWhat = ({ job_type: type, job_id: id }: { job_type: string; job_id: string }) =>
  type === 'scim' ? text.provider(id) : text.commandLine(id);

/**
 * One change in words, with what it was before.
 * @param place the project of the record, where the list has records of several
 * @param onOnly absent while only one record is shown
 */
export function Entry({
  entry,
  zone,
  place,
  onOnly,
}: {
  entry: Activity;
  zone: string;
  place: string | null;
  onOnly: (() => void) | undefined;
}) {
  const { user, activity, scope, item_id: id, detail, created_at: at } = entry;
  const kind = text.kinds[scope] ?? scope;
  const name = detail.name || id;
  return (
    <li>
      <div className="activity-head">
        <p className="grow">
          <strong title={user.email ?? undefined}>{user.first_name || user.email}</strong>{' '}
          {text.verbs[activity] ?? activity} {kind} <RecordLink entry={entry} />{' '}
          {detail.trigger && <span className="quiet">{byWhat(detail.trigger)}</span>}
        </p>
        {place !== null && <span className="pill activity-place">{place}</span>}
        <time className="quiet" dateTime={at} title={formatAgo(at)}>
          {formatTime(at, zone).replace(/\.\d+$/, '')}
        </time>
        {onOnly && (
          <Button look="plain" aria-label={text.onlyThisOf(name)} onPress={onOnly}>
            {text.onlyThis}
          </Button>
        )}
      </div>
      {detail.changes?.map((change) => (
        <Change key={change.field} scope={scope} change={change} />
      ))}
    </li>
  );
}
