// Describes an activity log entry: who did what to which record, and when.

import { Link } from '@tanstack/react-router';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { formatTime } from '../../parts/time.ts';
import { type Activity, Change } from './change.tsx';
import { text } from './words.ts';

const byWhat = ({ job_type: type, job_id: id }: { job_type: string; job_id: string }) =>
  type === 'scim' ? text.provider(id) : text.commandLine(id);

/**
 * Describes a change and shows the previous values.
 * @param place the record's project and environment; null if the list covers only one project
 * @param onOnly a function that restricts the list to the record's changes; undefined if the list is already restricted
 */
export function ActivityEntry({
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

const pagesOfRecords: Record<string, (id: string) => [path: string, search?: Record<string, string>]> = {
  FeatureFlag: (flag) => ['flags', { flag }],
  Insight: (insight) => ['insights', { insight }],
  Dashboard: (dashboard) => ['dashboards', { dashboard }],
  Cohort: (cohort) => ['cohorts', { cohort }],
  Person: (person) => ['persons', { person }],
  Subscription: (open) => ['settings/subscriptions', { open }],
  BatchExport: (open) => ['settings/exports', { open }],
  Team: () => ['settings/project'],
  Project: () => ['settings/project'],
  Organization: () => ['settings/organization'],
  OrganizationDomain: () => ['settings/domains'],
  OrganizationInvite: () => ['settings/members'],
  OrganizationMembership: () => ['settings/members'],
  Role: () => ['settings/members'],
};

function RecordLink({ entry: { scope, item_id: id, activity, detail, team_id: team } }: { entry: Activity }) {
  const project = useProject();
  const name = detail.name || id;
  const page = pagesOfRecords[scope];
  if (page === undefined || activity === 'deleted') return <strong className="activity-name">{name}</strong>;
  const [path, search] = page(id);
  return (
    <Link className="activity-name" to={`/projects/${team ?? project.id}/${path}`} search={(search ?? {}) as never}>
      {name}
    </Link>
  );
}
