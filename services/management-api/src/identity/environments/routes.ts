// The routes of environments: those below a project, those by id, and how long events are kept.

import {
  changeEnvironment,
  lockEnvironment,
  recordActivity,
  removeEnvironment,
  updateEnvironment,
} from '@millrace/accounts';
import { membershipLevels, parseRecordId } from '@millrace/contracts';
import type { Database, Sql } from '@millrace/db';
import { type ApiRequest, offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedById, belowEnvironment, idParams } from '../../access/addressed-project.ts';
import {
  type Caller,
  isAdministrator,
  onlyEnvironmentsOf,
  refuseProjectScopedKey,
  requireProjectInKey,
  visibleOrganizationIds,
} from '../../access/caller.ts';
import { basePath, defineRoute, defineRoutes } from '../../access/define-route.ts';
import { accessControlRoutes } from './access-controls.ts';
import { type ItemDeps, type ItemKind, toEnvironment } from './item.ts';
import { itemRoutes } from './item-routes.ts';
import { createEnvironmentFor, isAskedForDemo } from './rules.ts';
import {
  environment,
  environmentChanges,
  environmentExample,
  environmentListExample,
  environmentListItem,
  refusedSettings,
  withSecretKeys,
} from './schema.ts';
import { findEnvironmentForCaller, findProjectOfCaller, listEnvironments, readEventRetention } from './store.ts';

const page = offsetPageOf(environmentListItem);
const listAnswer = { 200: { description: 'One page of environments.', schema: page } };
const listExample = { response: { count: 1, next: null, previous: null, results: [environmentListExample] } };
const environmentWithSecretKeys = withSecretKeys(environment, 'EnvironmentWithSecretKeys');
const tags: [string] = ['environments'];

/** Environments (docs/api/README.md#routes-and-fields), under their project and by their id alone. */
export function environmentRoutes(deps: ItemDeps) {
  const { sql, transaction, tokenSecrets } = deps;
  const parent = addressedParent(sql);
  const byId = addressedById(sql, 'environment');

  const kind: ItemKind = {
    kind: 'environment',
    below: [
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
    ],
    schema: environment,
    schemaWithSecretKeys: environmentWithSecretKeys,
    example: environmentExample,
    changes: environmentChanges,
    show: toEnvironment,
    change: async (tx, { caller, target, sent }) => {
      const { environmentId, level } = target;
      await changeEnvironment(tx, { environmentId, settings: sent, actor: caller, level });
    },
    remove: async ({ caller, target }) => {
      const { environmentId } = target;
      await transaction((tx) => removeEnvironment(tx, { environmentId, actor: caller }));
    },
    activityScopes: ['Team'],
    isActivityOnlyIfPreferred: true,
  };

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
      responses: listAnswer,
      examples: listExample,
      target: parent,
      handler: async ({ caller, target: { projectId, organizationId }, query, request }) => {
        const reach = { userId: caller.userId, organizationIds: [organizationId] };
        const only = onlyEnvironmentsOf(caller);
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
      responses: listAnswer,
      examples: listExample,
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const reach = { userId: caller.userId, organizationIds: visibleOrganizationIds(caller) };
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
        // What is made belongs to the project, so a key for another of its environments does not suffice.
        const { projectId, organizationId } = project;
        requireProjectInKey(context.caller, { environmentIds: [projectId], organizationId }, context.params.project_id);
        await requireMaker(context, project.organizationId);
        return project;
      },
      handler: async ({ caller, target: { projectId, organizationId }, body: sent }) => {
        const id = await transaction((tx) => createEnvironmentFor(tx, caller, { organizationId, projectId, sent }));
        const row = await findEnvironmentForCaller(sql, caller.userId, id);
        if (!row) throw new AppError('not_found', 'Not found.');
        return toEnvironment(row, { caller, secret: tokenSecrets()[0], now: new Date() });
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
    ...itemRoutes(deps, kind),
    ...accessControlRoutes(deps, kind),
  ];
}

/** Who makes projects and environments administrates the organization; demo data is for everybody. */
export async function requireMaker(
  { caller, request }: { caller: Caller; request: ApiRequest },
  organizationId: string,
): Promise<void> {
  if (isAdministrator(caller, organizationId)) return;
  const isMember = caller.memberships.some((own) => own.organizationId === organizationId);
  if (isMember && (await isAskedForDemo(request))) return;
  throw new AppError('forbidden', 'Your organization access level is insufficient.');
}

/** Path parameter of everything below a project that belongs to the project and not to one of its environments. */
const parentParams = Type.Object({
  project_id: Type.String({ description: 'ID (integer) of the project, or `@current`.' }),
});

interface ParentProject {
  projectId: number;
  organizationId: string;
}

/**
 * The project the path names, within the caller's organizations. Its environments may be private one by one; the project
 * is not.
 *
 * The returned function throws AppError: `not_found`, or `forbidden` when the key is restricted to others.
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
            organizationIds: isCurrent ? visibleOrganizationIds(caller) : null,
            only: isCurrent ? onlyEnvironmentsOf(caller) : null,
          });
    if (!found) throw new AppError('not_found', 'Project not found.');
    // A key for single environments reaches a project by any of them.
    requireProjectInKey(caller, found, params.project_id);
    return found;
  };
}

const retention = Type.Object(
  {
    event_retention_days: Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Null()], {
      description:
        'Number of days for which events are kept. Older events are deleted permanently, and events that are already ' +
        "older when they arrive are dropped. Null, or a value larger than the installation's own setting " +
        '(`EVENT_RETENTION_DAYS`), keeps events as long as the installation does.',
    }),
  },
  { title: 'EventRetention' },
);

const path = '/event_retention';
const example = { event_retention_days: 365 };

/**
 * How long an environment keeps its events. Not one of the settings of an environment: what it does cannot be undone, and clients
 * know exactly which fields an environment has.
 */
export function eventRetentionRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path,
      operationId: 'event_retention_retrieve',
      summary: 'Show the event retention period',
      description: 'Returns the retention period that is set for this environment.',
      tags: ['environments'],
      scope: 'project:read',
      responses: { 200: { description: 'The event retention period.', schema: retention } },
      examples: { response: example },
      handler: ({ target: { environmentId } }) => readEventRetention(sql, environmentId),
    }),
    ...defineRoutes({
      method: 'PATCH',
      below: belowEnvironment(sql),
      path,
      operationId: 'event_retention_partial_update',
      summary: 'Change the event retention period',
      description:
        'Changes the retention period. Events and ingestion warnings that are older than the period are deleted in the background within minutes. Increasing the period later does not restore them. Persons are not deleted.',
      tags: ['environments'],
      scope: 'project:write',
      level: membershipLevels.administrator,
      body: retention,
      responses: { 200: { description: 'The updated event retention period.', schema: retention } },
      examples: { request: example, response: example },
      handler: async ({ caller, target: { environmentId, organizationId }, body: { event_retention_days } }) => {
        await transaction(async (tx) => {
          const before = await lockEnvironment(tx, environmentId);
          if (!before) throw new AppError('not_found', 'Not found.');
          const after = await updateEnvironment(tx, environmentId, { event_retention_days });
          await recordActivity(tx, {
            organizationId,
            environmentId,
            scope: 'Team',
            itemId: environmentId,
            activity: 'updated',
            actor: caller,
            name: before.name,
            change: { before: { event_retention_days: before.event_retention_days }, after },
          });
        });
        return { event_retention_days };
      },
    }),
  ];
}
