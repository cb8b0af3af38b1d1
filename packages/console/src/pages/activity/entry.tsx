import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { formatTime } from '../../parts/time.ts';
import { words } from '../../words.ts';
import { text } from './words.ts';

export interface Activity {
  user: { first_name: string; email: string | null; is_system?: boolean };
  activity: string;
  scope: string;
  item_id: string;
  detail: {
    name: string | null;
    trigger: { job_type: string; job_id: string } | null;
    changes: { field: string; before: unknown; after: unknown }[] | null;
  };
  created_at: string;
}

const byWhat = ({ job_type: type, job_id: id }: { job_type: string; job_id: string }) =>
  type === 'scim' ? text.provider(id) : text.commandLine(id);

/** One change in words, with what it was before. @param onOnly absent while only one record is shown */
export function Entry({ entry, zone, onOnly }: { entry: Activity; zone: string; onOnly: (() => void) | undefined }) {
  const { user, activity, scope, item_id: id, detail, created_at: at } = entry;
  const kind = text.kinds[scope] ?? scope;
  const name = detail.name || id;
  return (
    <li>
      <div className="activity-head">
        <p className="grow">
          <strong title={user.email ?? undefined}>{user.first_name || user.email}</strong>{' '}
          {text.verbs[activity] ?? activity} {kind} <strong className="activity-name">{name}</strong>{' '}
          {detail.trigger && <span className="quiet">{byWhat(detail.trigger)}</span>}
        </p>
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
        <Change key={change.field} {...change} />
      ))}
    </li>
  );
}

function Change({ field, before, after }: { field: string; before: unknown; after: unknown }) {
  const [gone, come] = [shown(field, before), shown(field, after)];
  return (
    <div className="activity-change">
      <span className="hint">{field.replaceAll('_', ' ')}</span>
      {gone === come ? (
        <span className="quiet">{text.hidden}</span>
      ) : (
        <>
          <del>
            <span className="only-heard">{text.before} </span>
            {gone}
          </del>
          <ins>
            <span className="only-heard">{text.after} </span>
            {come}
          </ins>
        </>
      )}
    </div>
  );
}

const longest = 2000;

/** A value as a person reads it; a very long one ends early. */
function shown(field: string, value: unknown): string {
  if (field === 'level' && typeof value === 'number') return words.level[value] ?? String(value);
  if (value === null || value === undefined || value === '') return text.nothing;
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.length > longest ? `${plain.slice(0, longest)} …` : plain;
}
