import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { meQuery, type Project } from '../api/queries.ts';
import { call, consolePath, toApiPath } from '../api/request.ts';
import { pages } from '../pages.ts';
import { Button } from '../parts/button.tsx';
import { groupEntries } from '../parts/group-entries.ts';
import { Icon } from '../parts/icon.tsx';
import { areShortcutsOn, saveShortcutsOn } from '../parts/keys.ts';
import { words } from '../words.ts';
import { findDisplayNames } from './project.ts';
import { ProjectSwitch } from './project-switch.tsx';
import { setTheme, type Theme, useTheme } from './theme.ts';
import { deleteUserStorage } from './user-storage.ts';

const isApple = /Mac|iP(hone|ad)/.test(navigator.platform);

/**
 * The navigation: the project at the top, followed by the pages in groups, the documentation and the account. On
 * phones, everything below the project name is in a menu.
 */
export function Navigation({ project, onSearch }: { project: Project | undefined; onSearch: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another page is opened
  useEffect(() => setOpen(false), [pathname]);
  const groups = groupEntries(pages);
  return (
    <header className="rail" {...(isOpen && { 'data-open': '' })}>
      <div className="rail-top">
        <Link to="/" className="rail-brand">
          <Icon name="mill" size={18} />
          {words.product}
        </Link>
        <span className="rail-where cut">{useProjectName(project)}</span>
        <span className="rail-menu-button">
          <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
            {words.menu}
          </Button>
        </span>
      </div>
      <div className="rail-body">
        <ProjectSwitch project={project} />
        <button type="button" className="rail-item" aria-keyshortcuts="Control+K Meta+K" onClick={onSearch}>
          <Icon name="search" />
          <span className="grow">{words.palette.open}</span>
          <span className="key" aria-hidden="true">
            {isApple ? '⌘K' : 'Ctrl K'}
          </span>
        </button>
        <nav aria-label={words.pagesOfProject}>
          {groups.map(([name, entries]) => (
            <ul key={name}>
              {entries.map(({ path, title, icon }) => (
                <li key={path}>
                  <Link
                    to={project ? `/projects/${project.id}/${path}` : '/'}
                    className="rail-item"
                    {...(pathname.split('/')[3] === path && { 'aria-current': 'page' as const })}
                  >
                    <Icon name={icon} />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          ))}
        </nav>
        <div className="rail-foot">
          <a className="rail-item" href={`${consolePath}docs`}>
            <Icon name="documents" />
            {words.documentation}
          </a>
          <a className="rail-item" href={toApiPath('/api/docs')}>
            <Icon name="documents" />
            {words.apiReference}
          </a>
          <AccountMenu />
        </div>
      </div>
    </header>
  );
}

function useProjectName(project: Project | undefined): string {
  const { data: me } = useQuery(meQuery);
  if (project === undefined || !me?.organization) return '';
  const names = findDisplayNames(me.organization, project);
  return [names.project, names.environment].filter((name) => name !== null).join(' · ');
}

function AccountMenu() {
  const { data: me } = useQuery(meQuery);
  const theme = useTheme();
  const [hasShortcuts, setShortcuts] = useState(areShortcutsOn());
  const name = me?.first_name || me?.email || '';
  const act = async (id: string) => {
    if (id === 'shortcuts') {
      saveShortcutsOn(!hasShortcuts);
      return setShortcuts(!hasShortcuts);
    }
    if (id !== 'sign-out') return setTheme(id as Theme);
    await call({ method: 'POST', path: '/api/logout' });
    deleteUserStorage();
    location.reload();
  };
  return (
    <MenuTrigger>
      <AriaButton className="rail-item">
        <span className="only-heard">{words.account}: </span>
        <span className="rail-initials" aria-hidden="true" translate="no">
          {name.slice(0, 2).toUpperCase()}
        </span>
        <span className="cut">{name}</span>
      </AriaButton>
      <Popover placement="top start">
        <Menu className="menu" aria-label={words.account} onAction={(id) => void act(String(id))}>
          {(['system', 'light', 'dark'] as const).map((one) => (
            <MenuItem key={one} id={one} className="menu-item" textValue={words.theme[one]}>
              {words.theme.label}: {words.theme[one]} {theme === one && <Icon name="check" size={12} />}
            </MenuItem>
          ))}
          <MenuItem id="shortcuts" className="menu-item">
            {words.shortcuts(hasShortcuts)}
          </MenuItem>
          <MenuItem id="sign-out" className="menu-item">
            {words.signOut}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
