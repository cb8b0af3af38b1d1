import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { groupEntries } from '../../parts/group-entries.ts';
import { words } from '../../words.ts';
import { ConfirmItIsYou } from './recent-sign-in.tsx';
import { type SectionEntry, sections } from './sections.ts';
import { text } from './words.ts';
import './settings.css';

/** The list of sections, and the section in the URL. */
export function Page() {
  return (
    <>
      <PageTitle title={words.pages.settings.title} />
      <div className="settings">
        <nav className="settings-list" aria-label={text.sectionList}>
          {groupEntries(sections).map(([group, entries]) => (
            <section key={group} aria-label={text.groups[group]}>
              <p className="settings-group">{text.groups[group]}</p>
              <ul>
                {entries.map((entry) => (
                  <li key={entry.path}>
                    <SectionLink entry={entry} />
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
        <div className="settings-section">
          <Outlet />
        </div>
      </div>
      <ConfirmItIsYou />
    </>
  );
}

function SectionLink({ entry: { path, title } }: { entry: SectionEntry }) {
  const { id } = useProject();
  const { pathname } = useLocation();
  const isOpen = pathname.split('/')[4] === path;
  return (
    <Link
      to={`/projects/${id}/settings/${path}`}
      className="rail-item"
      {...(isOpen && { 'aria-current': 'page' as const })}
    >
      {title}
    </Link>
  );
}
