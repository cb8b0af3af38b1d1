import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { part, useAddress } from '../../parts/address.ts';
import { AddressHint } from '../../parts/chips.tsx';
import { words } from '../../words.ts';
import { Account } from './account.tsx';
import { Keys } from './keys.tsx';
import { ConfirmItIsYou } from './recent-sign-in.tsx';
import { text } from './words.ts';
import './settings.css';

/** In the order of the list: what is one's own before what belongs to all. */
const sections = ['account', 'keys'] as const;
const parts = {
  section: part.oneOf(sections, 'account'),
  /** What is open in the section: the id of a key, or `new`. */
  open: part.text(),
};

export function Page() {
  const { view, change, unknown } = useAddress(parts);
  const { id } = useProject();
  const open = { open: view.open, onOpen: (next: string) => change({ open: next }) };
  const shown: Record<(typeof sections)[number], () => ReactNode> = {
    account: () => <Account />,
    keys: () => <Keys {...open} />,
  };
  return (
    <>
      <PageTitle title={words.pages.settings.title} />
      <AddressHint unknown={unknown} />
      <div className="settings">
        <nav className="settings-list" aria-label={text.sectionList}>
          <ul>
            {sections.map((name) => (
              <li key={name}>
                <Link
                  to={`/projects/${id}/settings`}
                  search={{ section: name } as never}
                  className="rail-item"
                  activeProps={{}}
                  {...(view.section === name && { 'aria-current': 'page' as const })}
                >
                  {text.sections[name]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="settings-section">{shown[view.section]()}</div>
      </div>
      <ConfirmItIsYou />
    </>
  );
}
