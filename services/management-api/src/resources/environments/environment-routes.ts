import { changeEnvironment, removeEnvironment } from '@millrace/accounts';
import { AppError } from '@millrace/errors';
import { type ApiRequest, offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { type TSchema, Type } from 'typebox';
import { addressedById, idParams } from '../../access/addressed-project.ts';
import { type Caller, isAdministrator, onlyEnvironmentsOf, visibleOrganizationIds } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { refuseProjectScopedKey, requireProjectInKey } from '../../access/key-restrictions.ts';
import { accessControlRoutes } from './access-control-routes.ts';
import { createEnvironmentFor } from './create-environment.ts';
import { environmentExample, environmentListExample } from './environment-example.ts';
import { environment, environmentChanges, environmentListItem } from './environment-schema.ts';
import { findEnvironmentForCaller, listEnvironments } from './environment-store.ts';
import { isAskedForDemo } from './is-asked-for-demo.ts';
import type { ItemDeps, ItemFamily } from './item-family.ts';
import { itemRoutes } from './item-routes.ts';
import { addressedParent, parentParams } from './parent-project.ts';
import { withSecretKeys } from './secret-key-schema.ts';
import { toEnvironment } from './to-environment.ts';

const page = offsetPageOf(environmentListItem);
const listAnswer = { 200: { description: 'One page of environments.', schema: page } };
const listExample = { response: { count: 1, next: null, previous: null, results: [environmentListExample] } };
const environmentWithSecretKeys = withSecretKeys(environment, 'EnvironmentWithSecretKeys');
const tags: [string] = ['environments'];

/** Environments (docs/api-rules.md#ordered-routes, rows 23 to 30), under their project and by their id alone. */
export function environmentRoutes(deps: ItemDeps) {
  const { sql, transaction, tokenSecret } = deps;
  const parent = addressedParent(sql);
  const byId = addressedById(sql, 'environment');

  const common = {
    kind: 'environment',
    schema: environment,
    schemaWithSecretKeys: environmentWithSecretKeys,
    example: environmentExample,
    changes: environmentChanges,
    show: toEnvironment,
    change: async (tx, { caller, target, sent }) => {
      const { before } = await changeEnvironment(tx, {
        environmentId: target.environmentId,
        settings: sent,
        actor: caller,
      });
      return before.api_token;
    },
    remove: async ({ caller, target }) => {
      const { environmentId } = target;
      const removed = await transaction((tx) => removeEnvironment(tx, { environmentId, actor: caller }));
      return [removed.api_token];
    },
    activityScopes: ['Team'],
    isActivityOnlyIfPreferred: true,
  } satisfies Partial<ItemFamily<typeof idParams>>;

  const underProject = {
    ...common,
    path: '/api/projects/:project_id/environments/:id',
    prefix: 'projects_environments',
    params: Type.Object({ ...parentParams.properties, ...idParams.properties }),
    target: async (context: { caller: Caller; params: { project_id: string; id: string } }) => {
      const project = await parent(context);
      const found = await byId(context);
      if (found.projectId !== project.projectId) throw new AppError('not_found', 'Not found.');
      return found;
    },
  };
  const alone = { ...common, path: '/api/environments/:id', prefix: 'environments', params: idParams, target: byId };

  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/environments',
      operationId: 'projects_environments_list',
      summary: 'List the environments of a project',
      description: 'The environments of one project the caller has access to, by id.',
      tags,
      scope: 'project:read',
      params: parentParams,
      query: Type.Object(offsetQuery),
      responses: listAnswer,
      examples: listExample,
      target: parent,
      handler: async ({ caller, target: { projectId, organizationId }, query, request }) => {
        const reach = { userId: caller.userId, organizationIds: [organizationId] };
        return offsetPage(
          request,
          query,
          await listEnvironments(sql, reach, { ...query, projectId, only: onlyEnvironmentsOf(caller) }),
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/environments',
      operationId: 'environments_list',
      summary: 'List all environments',
      description: 'The environments of all projects the caller has access to and the key may use, by id.',
      tags,
      scope: 'project:read',
      query: Type.Object(offsetQuery),
      responses: listAnswer,
      examples: listExample,
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const reach = { userId: caller.userId, organizationIds: visibleOrganizationIds(caller) };
        return offsetPage(
          request,
          query,
          await listEnvironments(sql, reach, { ...query, projectId: null, only: null }),
        );
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/projects/:project_id/environments',
      operationId: 'projects_environments_create',
      summary: 'Create an environment',
      description:
        'Adds an environment with its own project API key; it becomes the current one of the caller. Needs level 8, or any for `is_demo`.',
      tags,
      scope: 'project:write',
      params: parentParams,
      body: environmentChanges,
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
        return toEnvironment(row, { secret: tokenSecret(), now: new Date() });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/environments',
      operationId: 'environments_create',
      summary: 'Create an environment (refused)',
      description: 'Always refused with 400: environments are made under their project.',
      tags,
      scope: 'project:write',
      body: Type.Object<Record<string, TSchema>>({}),
      responses: { 201: { description: 'Never.', schema: environment } },
      examples: { request: {}, response: environmentExample },
      handler: async () => {
        throw new AppError(
          'invalid',
          'Environments must be created under a specific project. Send the POST request to /api/projects/<project_id>/environments/ instead.',
        );
      },
    }),
    ...itemRoutes(deps, underProject),
    ...accessControlRoutes(deps, underProject),
    ...itemRoutes(deps, alone),
    ...accessControlRoutes(deps, alone),
  ];
}

/** Who makes projects and environments administrates the organization; demo data is for everybody (2.8). */
export async function requireMaker(
  { caller, request }: { caller: Caller; request: ApiRequest },
  organizationId: string,
): Promise<void> {
  if (isAdministrator(caller, organizationId)) return;
  const isMember = caller.memberships.some((own) => own.organizationId === organizationId);
  if (isMember && (await isAskedForDemo(request))) return;
  throw new AppError('forbidden', 'Your organization access level is insufficient.');
}
