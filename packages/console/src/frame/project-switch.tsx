// The navigation menu for switching to another project.

import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { SearchField } from 'react-aria-components/SearchField';
import { type Me, meQuery, type OrganizationOfMe, type Project, queryClient } from '../api/queries.ts';
import { call } from '../api/request.ts';
import { Icon } from '../parts/icon.tsx';
import { words } from '../words.ts';
import { findDisplayNames } from './project.ts';

const noOrganization: Pick<OrganizationOfMe, 'teams' | 'projects'> & { name: string } = {
  name: '',
  teams: [],
  projects: [],
};
/** Minimum number of projects for which the menu has a search field. Shorter lists are easy to scan. */
const fewestToSearch = 6;

/** Shows the current project in a menu. Choosing another project opens the same page for that project. */
export function ProjectSwitch({ project }: { project: Project | undefined }) {
  const { data: me } = useQuery(meQuery);
  const navigate = useNavigate();
  const page = usePathInOtherProjects();
  const { contains } = useFilter({ sensitivity: 'base' });
  const organization = me?.organization ?? noOrganization;
  const names = project && findDisplayNames(organization, project);
  const others = me?.organizations.filter(({ id }) => id !== me.organization?.id) ?? [];
  const mayMake = project !== undefined && (me?.organization?.membership_level ?? 0) >= 8;
  const go = async (key: string) => {
    const [kind = '', id = ''] = key.split(' ');
    if (kind === 'project') return navigate({ to: `/projects/${id}/${page}` });
    if (kind === 'new')
      return navigate({ to: `/projects/${id}/settings/project`, search: { new: 'project' } as never });
    const now = await call<Me>({ method: 'PATCH', path: '/api/users/@me', body: { set_current_organization: id } });
    queryClient.setQueryData(meQuery.queryKey, now);
    return navigate({ to: now.team ? `/projects/${now.team.id}/${page}` : '/' });
  };
  const count = organization.teams.length + others.length;
  return (
    <MenuTrigger>
      <AriaButton className="rail-project">
        <span className="only-heard">{words.projectSwitch}: </span>
        <span className="grow">
          <span className="rail-project-name cut">{names?.project ?? '…'}</span>
          <span className="hint cut rail-place">
            {names ? words.environmentIn(names.environment, project?.timezone ?? '') : '\u00a0'}
          </span>
        </span>
        <Icon name="down" size={12} />
      </AriaButton>
      <Popover placement="bottom start" className="react-aria-Popover rail-switch">
        <Autocomplete filter={contains}>
          {count >= fewestToSearch && (
            <SearchField className="search rail-search" aria-label={words.findProject} autoFocus>
              <Icon name="search" size={13} />
              <Input placeholder={words.findProject} />
            </SearchField>
          )}
          <Menu
            className="menu"
            aria-label={words.projectSwitch}
            renderEmptyState={() => <p className="quiet rail-none">{words.noProjectFound}</p>}
            onAction={(key) => void go(String(key))}
          >
            <MenuSection>
              <Header className="menu-head">{organization.name}</Header>
              {organization.teams.map((team) => (
                <Place
                  key={team.id}
                  team={team}
                  names={findDisplayNames(organization, team)}
                  isOpen={team.id === project?.id}
                />
              ))}
              {mayMake ? (
                <MenuItem id={`new ${project.id}`} className="menu-item">
                  {words.newProject}
                </MenuItem>
              ) : null}
            </MenuSection>
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
        </Autocomplete>
      </Popover>
    </MenuTrigger>
  );
}

/** Returns the current page's path without record IDs and filters, so that the path is valid in every project. */
export function usePathInOtherProjects(): string {
  const [, , , page = '', section = ''] = useLocation().pathname.split('/');
  return page === 'settings' ? `settings/${section}` : page;
}

function Place({
  team: { id },
  names: { project, environment },
  isOpen,
}: {
  team: OrganizationOfMe['teams'][number];
  names: ReturnType<typeof findDisplayNames>;
  isOpen: boolean;
}) {
  return (
    <MenuItem id={`project ${id}`} className="menu-item" textValue={[project, environment].filter(Boolean).join(' ')}>
      <span className="rail-project-name">
        {project} {isOpen && <Icon name="check" size={12} />}
      </span>
      {environment !== null && <span className="hint">{environment}</span>}
    </MenuItem>
  );
}
