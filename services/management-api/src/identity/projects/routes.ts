// Declares the routes for projects, by organization and by ID.

import { changeProject, createProject, removeProject, setCurrentEnvironment } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import type { SqlParser } from '@millrace/insights';
import { AppError, isAppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { addressedById, idParams } from '../../access/addressed-project.ts';
import {
  type Caller,
  getVisibleMemberships,
  getVisibleOrganizationIds,
  hasLimitedReach,
  refuseProjectScopedKey,
} from '../../access/caller.ts';
import { basePath, defineRoute } from '../../access/define-route.ts';
import { projectAccessRoutes } from '../environments/access-controls.ts';
import { commonRoutes, type RecordKind } from '../environments/common-routes.ts';
import {
  checkQuerySettings,
  parseSettingsAhead,
  requireCanCreateProjects,
  requireLevelForNewEnvironment,
} from '../environments/rules.ts';
import { refusedSettings } from '../environments/schema.ts';
import { type RecordDeps, type ShowRecord, showRecord } from '../environments/show.ts';
import {
  type ProjectChanges,
  project,
  projectChanges,
  projectExample,
  projectFullExample,
  projectSummary,
  toProject,
} from './schema.ts';
import { levelsInProject, listProjects, wasRecentlyDeletedBy } from './store.ts';

const page = offsetPageSchema(projectSummary);
const pageExample = { count: 1, next: null, previous: null, results: [projectExample] };
const tags: [string] = ['projects'];
const kind: RecordKind = {
  tags,
  noun: 'project',
  aNoun: 'a project',
  title: 'Project',
  schema: project,
  example: projectFullExample,
  changes: projectChanges,
  activity: { scopes: ['Project', 'Team'] },
  change: (tx, { caller, target: { projectId, environmentId, level } }, changes) => {
    const { product_description: _, ...settings } = changes;
    const productDescription = descriptionOf(changes);
    return changeProject(tx, { projectId, environmentId, settings, productDescription, actor: caller, level });
  },
  remove: (tx, { caller, target: { projectId } }) => removeProjectFor(tx, caller, projectId),
};
const creation = {
  summary: 'Create a project',
  description:
    'Creates a project and its first environment, which has the same ID as the project and a new project API ' +
    "key. The project becomes the caller's current project. Requires membership level 8. Members of any level can " +
    'create a demo project (`is_demo`).',
  tags,
  scope: 'project:write',
  body: projectChanges,
  refusedBody: refusedSettings,
  responses: { 201: { description: 'The new project.', schema: project } },
  examples: { request: { name: 'Default project' }, response: projectFullExample },
} as const;

export function projectRoutes(deps: RecordDeps & { parser: SqlParser }) {
  const { sql, transaction, parser } = deps;
  const organization = addressedOrganization(sql);
  const byId = addressedById(sql, 'project');

  async function create(caller: Caller, organizationId: string, sent: ProjectChanges) {
    await parseSettingsAhead(parser, sent);
    const id = await transaction((tx) => createProjectFor({ tx, parser }, caller, { organizationId, sent }));
    return showRecord(deps, { caller, environmentId: id }, toProject);
  }

  const ofOrganization = basePath({
    path: '/api/organizations/:organization_id/projects/:id',
    operations: 'organizations_projects_',
    params: Type.Object({ ...organizationParams.properties, ...idParams.properties }),
    find: async (context) => {
      const { organizationId } = await organization(context, { isProjectBased: true });
      const found = await byId(context);
      if (found.organizationId !== organizationId) throw new AppError('not_found', 'Not found.');
      return found;
    },
  });
  const alone = { path: '/api/projects/:id', operations: 'projects_', params: idParams };
  const below = [ofOrganization, basePath({ ...alone, find: byId })];
  const show: ShowRecord = ({ caller, target: { environmentId } }) =>
    showRecord(deps, { caller, environmentId }, toProject);
  // Base path that also matches a project that the caller deleted in the last few minutes.
  const removedToo = basePath({
    ...alone,
    find: async (context) => {
      try {
        return await byId(context);
      } catch (error) {
        const id = isAppError(error, 'not_found') ? await removedBy(sql, context) : null;
        if (id === null) throw error;
        return { environmentId: id, level: null };
      }
    },
  });

  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects',
      operationId: 'projects_list',
      summary: 'List all projects',
      description:
        'Returns the projects of all organizations that the caller belongs to and the API key can access, ordered ' +
        'by ID.',
      tags,
      scope: 'project:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of projects.', schema: page } },
      examples: { response: pageExample },
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const reach = { userId: caller.userId, memberships: getVisibleMemberships(caller) };
        return offsetPage(request, query, (window) => listProjects(sql, reach, window));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/projects',
      operationId: 'organizations_projects_list',
      summary: 'List the projects of an organization',
      description: "Returns the organization's projects, ordered by ID.",
      tags,
      scope: 'project:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of projects.', schema: page } },
      examples: { response: pageExample },
      target: organization,
      handler: async ({ caller, target, query, request }) => {
        const reach = { userId: caller.userId, memberships: [target] };
        return offsetPage(request, query, (window) => listProjects(sql, reach, window));
      },
    }),
    defineRoute({
      ...creation,
      method: 'POST',
      path: '/api/organizations/:organization_id/projects',
      operationId: 'organizations_projects_create',
      params: organizationParams,
      target: async (context) => {
        const membership = await organization(context);
        await requireCanCreateProjects(context, membership.organizationId);
        return membership;
      },
      handler: ({ caller, target, body }) => create(caller, target.organizationId, body),
    }),
    defineRoute({
      ...creation,
      method: 'POST',
      path: '/api/projects',
      operationId: 'projects_create',
      summary: 'Create a project in the current organization',
      target: async (context) => {
        refuseProjectScopedKey(context.caller);
        const [organizationId] = getVisibleOrganizationIds(context.caller);
        if (organizationId === undefined) throw new AppError('not_found', 'You need to belong to an organization.');
        await requireCanCreateProjects(context, organizationId);
        return { organizationId };
      },
      handler: ({ caller, target, body }) => create(caller, target.organizationId, body),
    }),
    ...commonRoutes(deps, kind, { below, show }),
    ...projectAccessRoutes(deps, { below, readable: [ofOrganization, removedToo] }),
  ];
}

async function removedBy(
  sql: Sql,
  { caller, params }: { caller: Caller; params: { id: string } },
): Promise<number | null> {
  const id = /^\d{1,9}$/.test(params.id) ? Number(params.id) : 0;
  const isInKey = caller.scopedEnvironments.length === 0 || caller.scopedEnvironments.includes(id);
  const who = { userId: caller.userId, organizationIds: getVisibleOrganizationIds(caller) };
  return isInKey && (await wasRecentlyDeletedBy(sql, who, id)) ? id : null;
}

/** Returns the project description in a request, or undefined if the request does not contain one. */
function descriptionOf({ product_description: given }: Record<string, unknown>): string | null | undefined {
  return typeof given === 'string' || given === null ? given : undefined;
}

/**
 * Creates a project and its first environment. The environment becomes the caller's current one, unless the API key is
 * limited to some projects or organizations.
 * @returns the ID, which the project and the environment share
 * @throws AppError like `createProject`, or `forbidden` for `access_control`
 */
async function createProjectFor(
  { tx, parser }: { tx: Transaction; parser: SqlParser },
  caller: Caller,
  { organizationId, sent }: { organizationId: string; sent: ProjectChanges },
): Promise<number> {
  const { product_description: productDescription, ...settings } = sent;
  requireLevelForNewEnvironment(caller, organizationId, settings);
  const { project } = await createProject(tx, { organizationId, settings, productDescription, actor: caller });
  await checkQuerySettings({ tx, parser }, project.id, settings);
  if (!hasLimitedReach(caller))
    await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: project.id });
  return project.id;
}

/**
 * Deletes a project with all its environments.
 * @throws AppError like `removeProject`, or `forbidden` if the caller cannot delete one of the environments
 */
async function removeProjectFor(tx: Transaction, caller: Caller, projectId: number): Promise<void> {
  const requireRemovable = () => requireAllEnvironments(tx, caller, projectId);
  await removeProject(tx, { projectId, actor: caller, requireRemovable });
}

/** Checks the caller's access to all environments of a project. Earlier checks cover only the first one. */
async function requireAllEnvironments(tx: Transaction, caller: Caller, projectId: number): Promise<void> {
  for (const { id, level } of await levelsInProject(tx, { userId: caller.userId, projectId })) {
    if (caller.scopedEnvironments.length > 0 && !caller.scopedEnvironments.includes(id)) {
      throw new AppError('forbidden', 'API key does not have access to all environments of the project.');
    }
    if ((level ?? 0) < membershipLevels.administrator) {
      throw new AppError('forbidden', 'Your organization access level is insufficient.');
    }
  }
}
