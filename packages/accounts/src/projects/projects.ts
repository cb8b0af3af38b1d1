// Finds and lists projects and their environments.

import type { Sql } from '@millrace/db';
import { isRowId, notFound } from '../input.ts';
import { findEnvironment, type StoredEnvironment, selectEnvironments } from './environment-store.ts';
import {
  findOrganizationOfEnvironment,
  findOrganizationOfProject,
  findProject,
  type StoredProject,
  selectProjects,
} from './project-store.ts';

/** Lists all projects or those of an organization, sorted by ID, each with its environments. */
export async function listProjects(
  sql: Sql,
  filter: { organizationId?: string } = {},
): Promise<(StoredProject & { environments: StoredEnvironment[] })[]> {
  const projects = await selectProjects(sql, filter.organizationId ?? null);
  const environments = await selectEnvironments(
    sql,
    projects.map(({ id }) => id),
  );
  const byProject = new Map<number, StoredEnvironment[]>(projects.map(({ id }) => [id, []]));
  for (const environment of environments) byProject.get(environment.project_id)?.push(environment);
  return projects.map((project) => ({ ...project, environments: byProject.get(project.id) ?? [] }));
}

/** Lists a project's environments, sorted by ID. The first environment has the project's ID. */
export async function listEnvironments(sql: Sql, { projectId }: { projectId: number }): Promise<StoredEnvironment[]> {
  return selectEnvironments(sql, isRowId(projectId) ? [projectId] : []);
}

export async function getOrganizationOfProject(sql: Sql, projectId: number): Promise<string> {
  const found = isRowId(projectId) ? await findOrganizationOfProject(sql, projectId) : undefined;
  if (found === undefined) throw notFound('Project');
  return found;
}

export async function getOrganizationOfEnvironment(sql: Sql, environmentId: number): Promise<string> {
  const found = isRowId(environmentId) ? await findOrganizationOfEnvironment(sql, environmentId) : undefined;
  if (found === undefined) throw notFound('Environment');
  return found;
}

/**
 * Returns a project with its environments, starting with the first one.
 * @throws AppError `not_found`
 */
export async function getProject(
  sql: Sql,
  projectId: number,
): Promise<StoredProject & { environments: StoredEnvironment[] }> {
  const found = isRowId(projectId) ? await findProject(sql, projectId) : undefined;
  if (!found) throw notFound('Project');
  return { ...found, environments: await selectEnvironments(sql, [projectId]) };
}

/** @throws AppError `not_found` */
export async function getEnvironment(sql: Sql, environmentId: number): Promise<StoredEnvironment> {
  const found = isRowId(environmentId) ? await findEnvironment(sql, environmentId) : undefined;
  if (!found) throw notFound('Environment');
  return found;
}
