import { useLocation } from '@tanstack/react-router';
import { documentAddress } from '../api/request.ts';

/** The document that explains a page, by its path; in the settings by the path of the section. */
const documentOfPage: Record<string, string> = {
  live: 'docs/guides/send-events.md',
  events: 'docs/api/events.md',
  persons: 'docs/api/persons.md',
  groups: 'docs/api/groups.md',
  cohorts: 'docs/api/cohorts.md',
  insights: 'docs/guides/first-questions.md',
  dashboards: 'docs/api/dashboards.md',
  flags: 'docs/flags.md',
  warnings: 'docs/ingestion-rules.md',
  health: 'docs/operations/alerts.md',
  activity: 'docs/api/activity.md',
  'settings/account': 'docs/api/users.md',
  'settings/keys': 'docs/api/personal-api-keys.md',
  'settings/project': 'docs/api/projects.md',
  'settings/data': 'docs/settings.md',
  'settings/access': 'docs/api/access.md',
  'settings/exports': 'docs/api/batch-exports.md',
  'settings/subscriptions': 'docs/api/subscriptions.md',
  'settings/organization': 'docs/api/organizations.md',
  'settings/members': 'docs/api/members.md',
  'settings/domains': 'docs/operations/single-sign-on.md',
};

/** Where the page that is open is explained. */
export function useHelpAddress(): string {
  const [, , , page = '', section = ''] = useLocation().pathname.split('/');
  return documentAddress(documentOfPage[page === 'settings' ? `settings/${section}` : page] ?? 'docs');
}
