import { changeProject } from '@millrace/accounts';
import { AppError } from '@millrace/errors';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { addressedById, idParams } from '../../access/addressed-project.ts';
import { type Caller, visibleMemberships, visibleOrganizationIds } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { refuseProjectScopedKey } from '../../access/key-restrictions.ts';
import { accessRuleRoutes } from '../environments/access-rule-routes.ts';
import { requireMaker } from '../environments/environment-routes.ts';
import { findEnvironmentForCaller } from '../environments/environment-store.ts';
import type { ItemDeps, ItemFamily } from '../environments/item-family.ts';
import { itemRoutes } from '../environments/item-routes.ts';
import { withSecretKeys } from '../environments/secret-key-schema.ts';
import { createProjectFor } from './create-project.ts';
import { listProjects } from './list-projects-store.ts';
import {
  type ProjectChanges,
  project,
  projectChanges,
  projectExample,
  projectFullExample,
  projectSummary,
} from './project-schema.ts';
import { removeProjectFor } from './remove-project.ts';
import { toProject } from './to-project.ts';

const page = offsetPageOf(projectSummary);
const pageExample = { count: 1, next: null, previous: null, results: [projectExample] };
const projectWithSecretKeys = withSecretKeys(project, 'ProjectWithSecretKeys');
const tags: [string] = ['projects'];
const creation = {
  summary: 'Create a project',
  description:
    'Makes a project and its first environment, with one id and a project API key; it becomes the current one of the caller. Needs level 8, or any for `is_demo`.',
  tags,
  scope: 'project:write',
  body: projectChanges,
  responses: { 201: { description: 'The new project.', schema: project } },
  examples: { request: { name: 'Default project' }, response: projectFullExample },
} as const;

/** Projects (docs/api-rules.md#ordered-routes, rows 16 to 18), of an organization and over all of them. */
export function projectRoutes(deps: ItemDeps) {
  const { sql, transaction, tokenSecret } = deps;
  const organization = addressedOrganization(sql);
  const byId = addressedById(sql, 'project');

  async function create(caller: Caller, organizationId: string, sent: ProjectChanges) {
    const id = await transaction((tx) => createProjectFor(tx, caller, { organizationId, sent }));
    const row = await findEnvironmentForCaller(sql, caller.userId, id);
    if (!row) throw new AppError('not_found', 'Not found.');
    return toProject(row, { secret: tokenSecret(), now: new Date() });
  }

  const common = {
    kind: 'project',
    schema: project,
    schemaWithSecretKeys: projectWithSecretKeys,
    example: projectFullExample,
    changes: projectChanges,
    show: toProject,
    change: (tx, { caller, target: { projectId, environmentId }, sent }) => {
      const { product_description: _, ...settings } = sent;
      const productDescription = descriptionOf(sent);
      return changeProject(tx, { projectId, environmentId, settings, productDescription, actor: caller });
    },
    remove: ({ caller, target }) => transaction((tx) => removeProjectFor(tx, caller, target.projectId)),
    activityScopes: ['Project', 'Team'],
    isActivityOnlyIfPreferred: false,
  } satisfies Partial<ItemFamily<typeof idParams>>;

  const ofOrganization = {
    ...common,
    path: '/api/organizations/:organization_id/projects/:id',
    prefix: 'organizations_projects',
    params: Type.Object({ ...organizationParams.properties, ...idParams.properties }),
    target: async (context: { caller: Caller; params: { organization_id: string; id: string } }) => {
      const { organizationId } = await organization(context, { isProjectBased: true });
      const found = await byId(context);
      if (found.organizationId !== organizationId) throw new AppError('not_found', 'Not found.');
      return found;
    },
  };
  const alone = { ...common, path: '/api/projects/:id', prefix: 'projects', params: idParams, target: byId };

  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects',
      operationId: 'projects_list',
      summary: 'List all projects',
      description: 'The projects of all organizations the caller belongs to and the key may use, by id.',
      tags,
      scope: 'project:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of projects.', schema: page } },
      examples: { response: pageExample },
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const reach = { userId: caller.userId, memberships: visibleMemberships(caller) };
        return offsetPage(request, query, await listProjects(sql, reach, query));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/projects',
      operationId: 'organizations_projects_list',
      summary: 'List the projects of an organization',
      description: 'The projects of one organization, by id.',
      tags,
      scope: 'project:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of projects.', schema: page } },
      examples: { response: pageExample },
      target: organization,
      handler: async ({ caller, target, query, request }) => {
        const reach = { userId: caller.userId, memberships: [target] };
        return offsetPage(request, query, await listProjects(sql, reach, query));
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
        await requireMaker(context, membership.organizationId);
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
        const [organizationId] = visibleOrganizationIds(context.caller);
        if (organizationId === undefined) throw new AppError('not_found', 'You need to belong to an organization.');
        await requireMaker(context, organizationId);
        return { organizationId };
      },
      handler: ({ caller, target, body }) => create(caller, target.organizationId, body),
    }),
    ...itemRoutes(deps, ofOrganization),
    ...accessRuleRoutes(deps, ofOrganization),
    ...itemRoutes(deps, alone),
    ...accessRuleRoutes(deps, alone),
  ];
}

/** The schema lets no other value pass. */
function descriptionOf({ product_description: given }: Record<string, unknown>): string | null | undefined {
  return typeof given === 'string' || given === null ? given : undefined;
}
