// The frame of the settings pages, with a menu of sections next to the open section.

import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { groupEntries } from '../../parts/group-entries.ts';
import { Icon } from '../../parts/icon.tsx';
import { words } from '../../words.ts';
import { SignInConfirmation } from './recent-sign-in.tsx';
import { sections } from './sections.ts';
import { text } from './words.ts';
import './settings.css';

/** Shows the section menu and the open section. On phones, the menu is collapsed. */
export function Page() {
  const open = useLocation().pathname.split('/')[4];
  return (
    <>
      <PageTitle title={words.pages.settings.title} />
      <div className="settings">
        <nav className="settings-list" aria-label={text.sectionList}>
          <div className="wide-only">
            <SectionLinks open={open} />
          </div>
          {/* The React key changes when the user opens another section, which collapses the menu. */}
          <details className="settings-picker narrow-only" key={open}>
            <summary className="button">
              {sections.find(({ path }) => path === open)?.title ?? text.sectionList}
              <Icon name="down" size={12} />
            </summary>
            <SectionLinks open={open} />
          </details>
        </nav>
        <div className="settings-section">
          <Outlet />
        </div>
      </div>
      <SignInConfirmation />
    </>
  );
}

function SectionLinks({ open }: { open: string | undefined }) {
  const { id } = useProject();
  return groupEntries(sections).map(([group, entries]) => (
    <section key={group} aria-label={text.groups[group]}>
      <p className="settings-group">{text.groups[group]}</p>
      <ul>
        {entries.map(({ path, title }) => (
          <li key={path}>
            <Link
              to={`/projects/${id}/settings/${path}`}
              className="rail-item"
              {...(path === open && { 'aria-current': 'page' as const })}
            >
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  ));
}
