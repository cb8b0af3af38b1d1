import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { meQuery, type Project } from '../api/queries.ts';
import { apiPath, call } from '../api/request.ts';
import { pages } from '../pages.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { inGroups } from '../parts/in-groups.ts';
import { words } from '../words.ts';
import { setTheme, type Theme, useTheme } from './theme.ts';

/** Project on top, pages in groups, documents and account at the bottom. On a phone all but the name is behind a button. */
export function Rail({ project }: { project: Project | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page was opened
  useEffect(() => setOpen(false), [pathname]);
  const groups = inGroups(pages);
  return (
    <header className="rail" {...(isOpen && { 'data-open': '' })}>
      <div className="rail-top">
        <Link to="/" className="rail-brand">
          <Icon name="mill" size={18} />
          {words.product}
        </Link>
        <span className="rail-menu-button">
          <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
            {words.menu}
          </Button>
        </span>
      </div>
      <div className="rail-body">
        <ProjectSwitch project={project} />
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
          <a className="rail-item" href={apiPath('/api/docs')}>
            <Icon name="documents" />
            {words.documents}
          </a>
          <AccountMenu />
        </div>
      </div>
    </header>
  );
}

function ProjectSwitch({ project }: { project: Project | undefined }) {
  const { data: me } = useQuery(meQuery);
  const navigate = useNavigate();
  const teams = me?.organization?.teams ?? [];
  return (
    <MenuTrigger>
      <AriaButton className="rail-project">
        <span className="only-heard">{words.projectSwitch}: </span>
        <span className="grow">
          <span className="rail-project-name cut">{project?.name ?? '…'}</span>
          <span className="hint cut">{project ? project.timezone : ' '}</span>
        </span>
        <Icon name="down" size={12} />
      </AriaButton>
      <Popover placement="bottom start">
        <Menu
          className="menu"
          aria-label={words.projectSwitch}
          onAction={(id) => void navigate({ to: `/projects/${id}` })}
        >
          {teams.map(({ id, name, timezone }) => (
            <MenuItem key={id} id={id} className="menu-item" textValue={name}>
              <span className="rail-project-name">{name}</span>
              <span className="hint">{timezone}</span>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function AccountMenu() {
  const { data: me } = useQuery(meQuery);
  const theme = useTheme();
  const name = me?.first_name || me?.email || '';
  const act = async (id: string) => {
    if (id !== 'sign-out') return setTheme(id as Theme);
    await call({ method: 'POST', path: '/api/logout' });
    location.reload();
  };
  return (
    <MenuTrigger>
      <AriaButton className="rail-item">
        <span className="only-heard">{words.account}: </span>
        <span className="rail-initials" aria-hidden="true">
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
          <MenuItem id="sign-out" className="menu-item">
            {words.signOut}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
