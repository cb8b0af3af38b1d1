import { useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useHealth } from '../api/queries.ts';
import { getManualUrl } from '../api/request.ts';
import { words } from '../words.ts';
import { useProject } from './project.ts';
import { useRecordTitle } from './record-title.ts';

/**
 * A page header with the title, the current status and at most three buttons, one of which is the main button.
 * @param about a description of the record, which is shown below the title
 * @param onRename a function that renames the record; if set, the title is a button that opens the rename form
 */
export function PageTitle({
  title,
  now,
  about = '',
  onRename,
  children,
}: {
  title: string;
  now?: ReactNode;
  about?: string;
  onRename?: (() => void) | undefined;
  children?: ReactNode;
}) {
  useRecordTitle(title);
  const { data, error } = useHealth(useProject().id);
  const seconds = error ? null : data?.visible_after_seconds;
  return (
    <header className="title">
      <h1>
        {onRename ? (
          <button type="button" className="title-name" title={words.rename} onClick={onRename}>
            {title}
          </button>
        ) : (
          title
        )}
      </h1>
      {now}
      <div className="title-buttons">
        <a className="button wide-only" href={useHelpUrlState()} target="_blank" rel="noopener noreferrer">
          {words.docs.help}
          <span className="only-heard"> {words.docs.newWindow}</span>
        </a>
        {typeof seconds === 'number' && !data?.alarm && (
          <span className="pill pill-good wide-only">
            <span className="dot" />
            {words.visibleAfter(seconds)}
          </span>
        )}
        {children}
      </div>
      {about !== '' && <p className="title-about quiet">{about}</p>}
    </header>
  );
}

/** The manual page for each console page. Each settings section has its own manual page. */
const documentOfPage: Record<string, string> = {
  home: 'docs/guides/web-analytics.md',
  live: 'docs/guides/send-events.md',
  events: 'docs/api/events.md',
  persons: 'docs/api/persons.md',
  groups: 'docs/api/groups.md',
  cohorts: 'docs/api/cohorts.md',
  definitions: 'docs/api/definitions.md',
  insights: 'docs/guides/first-questions.md',
  sql: 'docs/guides/sql-page.md',
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

function useHelpUrlState(): string {
  const [, , , page = '', section = ''] = useLocation().pathname.split('/');
  return getManualUrl(documentOfPage[page === 'settings' ? `settings/${section}` : page] ?? 'docs');
}
