// The current page's project, its time zone, and the user's membership level in the project.

import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { meQuery, type OrganizationOfMe, type Project } from '../api/queries.ts';

export const ProjectContext = createContext<Project | null>(null);

export function useProject(): Project {
  const project = useContext(ProjectContext);
  if (project === null) throw new Error('This page does not belong to a project.');
  return project;
}

/** The project time zone on a public page, which has no access to other project data. */
export const PublicTimezone = createContext<string | null>(null);

export function useTimezone(): string {
  const project = useContext(ProjectContext);
  const timezone = useContext(PublicTimezone) ?? project?.timezone;
  if (timezone === undefined) throw new Error('This page does not belong to a project.');
  return timezone;
}

/**
 * Returns whether the user has at least this membership level in the project: 1 (member), 8 (administrator) or 15
 * (owner).
 */
export const useHasLevel = (level: 1 | 8 | 15) => (useProject().effective_membership_level ?? 0) >= level;

/**
 * Returns whether the user has at least this membership level in the project's organization. Organization settings
 * require it.
 */
export function useHasLevelInOrganization(level: 1 | 8 | 15): boolean {
  const { organization } = useProject();
  const { data: me } = useQuery(meQuery);
  const own = me?.organizations.find(({ id }) => id === organization);
  return (own?.membership_level ?? 0) >= level;
}

/**
 * Returns an environment's display names: the project name, and the environment name if the project has several
 * environments.
 */
export function findDisplayNames(
  { teams, projects }: Pick<OrganizationOfMe, 'teams' | 'projects'>,
  { project_id: projectId, name }: Pick<Project, 'project_id' | 'name'>,
): { project: string; environment: string | null } {
  const isOnly = teams.filter(({ project_id: other }) => other === projectId).length < 2;
  return {
    project: projects.find(({ id }) => id === projectId)?.name ?? name,
    environment: isOnly ? null : name,
  };
}
