import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { type Me, meQuery, type OrganizationOfMe, type Project, queryClient } from '../api/queries.ts';
import { apiPath, call, consolePath } from '../api/request.ts';
import { pages } from '../pages.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { inGroups } from '../parts/in-groups.ts';
import { words } from '../words.ts';
import { namesOf } from './project.ts';
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
          <a className="rail-item" href={`${consolePath}docs`}>
            <Icon name="documents" />
            {words.documentation}
          </a>
          <a className="rail-item" href={apiPath('/api/docs')}>
            <Icon name="documents" />
            {words.apiReference}
          </a>
          <AccountMenu />
        </div>
      </div>
    </header>
  );
}

const nowhere: Pick<OrganizationOfMe, 'teams' | 'projects'> = { teams: [], projects: [] };

function ProjectSwitch({ project }: { project: Project | undefined }) {
  const { data: me } = useQuery(meQuery);
  const navigate = useNavigate();
  const organization = me?.organization ?? nowhere;
  const names = project && namesOf(organization, project);
  const others = me?.organizations.filter(({ id }) => id !== me.organization?.id) ?? [];
  const mayMake = project !== undefined && (me?.organization?.membership_level ?? 0) >= 8;
  const go = async (key: string) => {
    const [kind = '', id = ''] = key.split(' ');
    if (kind === 'project') return navigate({ to: `/projects/${id}` });
    if (kind === 'new')
      return navigate({ to: `/projects/${id}/settings/project`, search: { new: 'project' } as never });
    const now = await call<Me>({ method: 'PATCH', path: '/api/users/@me', body: { set_current_organization: id } });
    queryClient.setQueryData(meQuery.queryKey, now);
    return navigate({ to: '/' });
  };
  return (
    <MenuTrigger>
      <AriaButton className="rail-project">
        <span className="only-heard">{words.projectSwitch}: </span>
        <span className="grow">
          <span className="rail-project-name cut">{names?.project ?? '…'}</span>
          <span className="hint cut rail-place">
            {names ? words.environmentIn(names.environment, project?.timezone ?? '') : ' '}
          </span>
        </span>
        <Icon name="down" size={12} />
      </AriaButton>
      <Popover placement="bottom start">
        <Menu className="menu" aria-label={words.projectSwitch} onAction={(key) => void go(String(key))}>
          {organization.teams.map((team) => (
            <Place key={team.id} team={team} names={namesOf(organization, team)} isOpen={team.id === project?.id} />
          ))}
          {mayMake ? (
            <MenuItem id={`new ${project.id}`} className="menu-item">
              {words.newProject}
            </MenuItem>
          ) : null}
          {others.length > 0 ? (
            <MenuSection>
              <Header className="menu-head">{words.organizations}</Header>
              {others.map(({ id, name }) => (
                <MenuItem key={id} id={`organization ${id}`} className="menu-item">
                  {name}
                </MenuItem>
              ))}
            </MenuSection>
          ) : null}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function Place({
  team: { id, timezone },
  names: { project, environment },
  isOpen,
}: {
  team: OrganizationOfMe['teams'][number];
  names: ReturnType<typeof namesOf>;
  isOpen: boolean;
}) {
  return (
    <MenuItem id={`project ${id}`} className="menu-item" textValue={[project, environment].filter(Boolean).join(' ')}>
      <span className="rail-project-name">
        {project} {isOpen && <Icon name="check" size={12} />}
      </span>
      <span className="hint">{words.environmentIn(environment, timezone)}</span>
    </MenuItem>
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
          <MenuItem id="sign-out" className="menu-item">
            {words.signOut}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
