// Declares the routes for environments, by project and by ID.

import { changeEnvironment, removeEnvironment } from '@millrace/accounts';
import { parseRecordId } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import type { SqlParser } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedById, idParams } from '../../access/addressed-project.ts';
import {
  type Caller,
  findScopedEnvironments,
  getVisibleOrganizationIds,
  refuseProjectScopedKey,
  requireProjectInKey,
} from '../../access/caller.ts';
import { basePath, defineRoute } from '../../access/define-route.ts';
import { environmentAccessRoutes } from './access-controls.ts';
import { commonRoutes, type RecordKind } from './common-routes.ts';
import { createAndEnterEnvironment, parseSettingsAhead, requireCanCreateProjects } from './rules.ts';
import {
  environment,
  environmentChanges,
  environmentExample,
  environmentListExample,
  environmentListItem,
  refusedSettings,
} from './schema.ts';
import { type RecordDeps, type ShowRecord, showRecord, toEnvironment } from './show.ts';
import { findProjectOfCaller, listEnvironments } from './store.ts';

const page = offsetPageSchema(environmentListItem);
const listResponse = { 200: { description: 'One page of environments.', schema: page } };
const listExample = { response: { count: 1, next: null, previous: null, results: [environmentListExample] } };
const tags: [string] = ['environments'];
const kind: RecordKind = {
  tags,
  noun: 'environment',
  aNoun: 'an environment',
  title: 'Environment',
  schema: environment,
  example: environmentExample,
  changes: environmentChanges,
  activity: { scopes: ['Team'], onlyIfPreferred: true },
  change: (tx, { caller, target: { environmentId, level } }, settings) =>
    changeEnvironment(tx, { environmentId, settings, actor: caller, level }),
  remove: (tx, { caller, target: { environmentId } }) => removeEnvironment(tx, { environmentId, actor: caller }),
};

export function environmentRoutes(deps: RecordDeps & { parser: SqlParser }) {
  const { sql, transaction, parser } = deps;
  const parent = addressedParent(sql);
  const byId = addressedById(sql, 'environment');

  const below = [
    basePath({
      path: '/api/projects/:project_id/environments/:id',
      operations: 'projects_environments_',
      params: Type.Object({ ...parentParams.properties, ...idParams.properties }),
      find: async (context) => {
        const project = await parent(context);
        const found = await byId(context);
        if (found.projectId !== project.projectId) throw new AppError('not_found', 'Not found.');
        return found;
      },
    }),
    basePath({ path: '/api/environments/:id', operations: 'environments_', params: idParams, find: byId }),
  ];
  const show: ShowRecord = ({ caller, target: { environmentId } }) =>
    showRecord(deps, { caller, environmentId }, toEnvironment);

  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/environments',
      operationId: 'projects_environments_list',
      summary: 'List the environments of a project',
      description: 'Returns the environments of the project that you have access to, ordered by ID.',
      tags,
      scope: 'project:read',
      params: parentParams,
      query: Type.Object(offsetQuery),
      responses: listResponse,
      examples: listExample,
      target: parent,
      handler: async ({ caller, target: { projectId, organizationId }, query, request }) => {
        const reach = { userId: caller.userId, organizationIds: [organizationId] };
        const only = findScopedEnvironments(caller);
        return offsetPage(request, query, (window) => listEnvironments(sql, reach, { ...window, projectId, only }));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/environments',
      operationId: 'environments_list',
      summary: 'List all environments',
      description:
        'Returns the environments of all projects that you have access to and that the API key can use, ordered by ID.',
      tags,
      scope: 'project:read',
      query: Type.Object(offsetQuery),
      responses: listResponse,
      examples: listExample,
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const reach = { userId: caller.userId, organizationIds: getVisibleOrganizationIds(caller) };
        return offsetPage(request, query, (window) =>
          listEnvironments(sql, reach, { ...window, projectId: null, only: null }),
        );
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/projects/:project_id/environments',
      operationId: 'projects_environments_create',
      summary: 'Create an environment',
      description:
        'Creates an environment with its own project API key, and makes it your current environment. Requires membership ' +
        'level 8 (administrator) or higher, unless `is_demo` is true.',
      tags,
      scope: 'project:write',
      params: parentParams,
      body: environmentChanges,
      refusedBody: refusedSettings,
      responses: { 201: { description: 'The new environment.', schema: environment } },
      examples: { request: { name: 'Default project' }, response: environmentExample },
      target: async (context) => {
        const project = await parent(context);
        // The new environment belongs to the project, so a key that is limited to one of the project's environments is
        // not sufficient.
        const { projectId, organizationId } = project;
        requireProjectInKey(context.caller, { environmentIds: [projectId], organizationId }, context.params.project_id);
        await requireCanCreateProjects(context, project.organizationId);
        return project;
      },
      handler: async ({ caller, target: { projectId, organizationId }, body: sent }) => {
        await parseSettingsAhead(parser, sent);
        const created = { organizationId, projectId, sent };
        const id = await transaction((tx) => createAndEnterEnvironment({ tx, parser }, caller, created));
        return showRecord(deps, { caller, environmentId: id }, toEnvironment);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/environments',
      operationId: 'environments_create',
      summary: 'Create an environment (always rejected)',
      description: 'Always returns an error. Create the environment under its project instead.',
      tags,
      scope: 'project:write',
      responses: { 400: { description: 'Always returned.' } },
      handler: async () => {
        throw new AppError(
          'invalid',
          'Environments must be created under a specific project. Send the POST request to ' +
            '/api/projects/<project_id>/environments/ instead.',
        );
      },
    }),
    ...commonRoutes(deps, kind, { below, show }),
    ...environmentAccessRoutes(deps, { below, show }),
  ];
}

/** Path parameter for resources that belong to a project and not to one of its environments. */
const parentParams = Type.Object({
  project_id: Type.String({ description: 'ID (integer) of the project, or `@current`.' }),
});

interface ParentProject {
  projectId: number;
  organizationId: string;
}

/**
 * Creates a function that finds the project in a path, if it is in one of the caller's organizations. Only environments
 * can be private, so the function does not check for a private project. It throws AppError `not_found`, or `forbidden`
 * if the API key is limited to other projects.
 */
function addressedParent(sql: Sql) {
  return async ({ caller, params }: { caller: Caller; params: { project_id: string } }): Promise<ParentProject> => {
    const isCurrent = params.project_id === '@current';
    const id = isCurrent ? null : parseRecordId(params.project_id);
    const found =
      id === undefined
        ? undefined
        : await findProjectOfCaller(sql, caller.userId, {
            id,
            preferred: caller.currentEnvironmentId,
            organizationIds: isCurrent ? getVisibleOrganizationIds(caller) : null,
            only: isCurrent ? findScopedEnvironments(caller) : null,
          });
    if (!found) throw new AppError('not_found', 'Project not found.');
    // A key that is limited to environments can also access the projects that contain these environments.
    requireProjectInKey(caller, found, params.project_id);
    return found;
  };
}
