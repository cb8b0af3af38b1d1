import { Link } from '@tanstack/react-router';
import { useProject } from '../../frame/project.ts';
import type { Activity } from './change.tsx';

const pages: Record<string, (id: string) => [path: string, search?: Record<string, string>]> = {
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

/** The name of a record, as a link where a page shows it. */
export function RecordLink({ entry: { scope, item_id: id, activity, detail, team_id: team } }: { entry: Activity }) {
  const project = useProject();
  const name = detail.name || id;
  const page = pages[scope];
  if (page === undefined || activity === 'deleted') return <strong className="activity-name">{name}</strong>;
  const [path, search] = page(id);
  return (
    <Link className="activity-name" to={`/projects/${team ?? project.id}/${path}`} search={(search ?? {}) as never}>
      {name}
    </Link>
  );
}
