import type { Sql } from '@millrace/db';
import { tryPatterns } from '@millrace/flags';
import { inTimeSlices } from '@millrace/flags/store';
import { type ApiRequest, offsetPage, offsetPageOf } from '@millrace/http';
import { type Static, Type } from 'typebox';
import { belowEnvironment, projectOfToken } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoute, defineRoutes } from '../../access/define-route.ts';
import { requireNamedRecords } from '../../access/named-records.ts';
import { sightOf } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { cohort, cohortExample, toCohort } from '../cohorts/schema.ts';
import { createCohort } from '../cohorts/write.ts';
import { flagActivityRoutes } from './activity.ts';
import { flagBlastRadiusRoute } from './blast-radius.ts';
import { flagBulkRoutes } from './bulk.ts';
import { flagDefinitionRoutes } from './definition-routes.ts';
import { flagEvaluationRoutes } from './evaluation.ts';
import { flagExposuresRoute } from './exposures.ts';
import { flagConditions, flagOrder, listFlagsQuery } from './list-query.ts';
import type { FlagDeps } from './payloads.ts';
import { dependentsOf } from './references.ts';
import {
  featureFlag,
  featureFlagExample,
  flagChanges,
  flagParams,
  flagsPath,
  newFlag,
  newFlagExample,
  refusedFlagFields,
  flagTags as tags,
} from './schema.ts';
import { flagStatus, flagStatusReason, showFlag, showFlags } from './show.ts';
import { listFlags } from './store.ts';
import { changeFlag, createFlag, type FlagWriter, foundFlag } from './write.ts';

/** Feature flags of an environment. Words in a path come before `:id`, which would take them for one. */
export function featureFlagRoutes(deps: FlagDeps) {
  return [
    ...flagActivityRoutes(deps),
    ...flagEvaluationRoutes(deps),
    ...flagDefinitionRoutes(deps),
    ...flagBulkRoutes(deps),
    ...flagBlastRadiusRoute(deps),
    ...flagCohortRoute(deps),
    ...flagDashboardRoutes(deps),
    ...flagExposuresRoute(deps),
    ...flagReadRoutes(deps),
    flagsOfTokenRoute(deps),
    ...flagWriteRoutes(deps),
  ];
}

const statusAnswer = Type.Object(
  {
    status: Type.String({ description: '`active`, `stale`, `archived` or `deleted`.' }),
    reason: Type.String({ description: 'Why.' }),
  },
  { title: 'FeatureFlagStatus' },
);
const dependentFlags = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'Number of the flag.' }),
    key: Type.String({ description: 'Its key.' }),
    name: Type.String({ description: 'What it is for.' }),
  }),
);

async function listPage(
  sql: Sql,
  target: AddressedProject,
  { query, request }: { query: Static<typeof listFlagsQuery>; request: ApiRequest },
) {
  return offsetPage(request, query, async (window) => {
    const page = { ...window, order: flagOrder(query.order) };
    const { count, rows } = await listFlags(sql, flagConditions(target, query), page);
    return { count, results: await showFlags(sql, rows, target.rights) };
  });
}

/** The same list at the address where SDKs of 2021 and earlier, such as posthog-node 1, read it. */
function flagsOfTokenRoute({ sql }: FlagDeps) {
  const scope = 'feature_flag:read';
  return defineRoute({
    method: 'GET',
    path: '/api/feature_flag',
    operationId: 'feature_flag_list',
    summary: 'List feature flags of the project with a token',
    description:
      'Returns the same list as `/api/projects/:project_id/feature_flags/`, for SDKs that name the project by its API key. Use that path in new code.',
    tags,
    scope,
    query: Type.Object({
      token: Type.Optional(
        Type.String({ maxLength: 200, description: 'API key of the project; your current project if absent.' }),
      ),
      ...listFlagsQuery.properties,
    }),
    responses: { 200: { description: 'One page of flags.', schema: offsetPageOf(featureFlag) } },
    examples: { response: { count: 1, next: null, previous: null, results: [featureFlagExample] } },
    handler: async ({ caller, query: { token, ...query }, request }) => {
      const route = { path: flagsPath, scope } as const;
      return listPage(sql, await projectOfToken(sql, token, { caller, route }), { query, request });
    },
  });
}

/** Looking at flags. */
function flagReadRoutes({ sql, payloadSecrets }: FlagDeps) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', below: belowEnvironment(sql) } as const;
  return [
    ...defineRoutes({
      ...common,
      path: flagsPath,
      operationId: 'feature_flags_list',
      summary: 'List feature flags',
      description:
        'The flags of a project, the newest first, without deleted and archived ones. Encrypted payloads are not shown.',
      query: listFlagsQuery,
      responses: { 200: { description: 'One page of flags.', schema: offsetPageOf(featureFlag) } },
      examples: { response: { count: 1, next: null, previous: null, results: [featureFlagExample] } },
      handler: async ({ target, query, request }) => listPage(sql, target, { query, request }),
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id`,
      operationId: 'feature_flags_retrieve',
      summary: 'Show a feature flag',
      description: 'One flag, also when it is deleted.',
      params: flagParams,
      responses: { 200: { description: 'The flag.', schema: featureFlag } },
      examples: { response: featureFlagExample },
      handler: async ({ target, params: { id } }) =>
        showFlag(sql, await foundFlag(sql, target, { id, needed: 'viewer' }), {
          secrets: payloadSecrets,
          rights: target.rights,
        }),
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/status`,
      operationId: 'feature_flags_status',
      summary: 'Show whether a feature flag is of use',
      description:
        'A flag is stale when no SDK has asked for it for 30 days, or when it was never asked for, is older than that and on for everybody.',
      params: flagParams,
      responses: { 200: { description: 'Its status.', schema: statusAnswer } },
      examples: { response: { status: 'active', reason: 'Flag is in use' } },
      handler: async ({ target, params: { id } }) => {
        const row = await foundFlag(sql, target, { id, needed: 'viewer' });
        return { status: flagStatus(row), reason: flagStatusReason(row) };
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/dependent_flags`,
      operationId: 'feature_flags_dependent_flags',
      summary: 'List the flags that depend on a flag',
      description: 'Active flags with a condition on this one.',
      params: flagParams,
      responses: { 200: { description: 'The flags.', schema: dependentFlags } },
      examples: { response: [{ id: 2, key: 'new-checkout-color', name: 'The color of the new checkout' }] },
      handler: async ({ target, params: { id } }) => {
        const { environmentId, rights } = target;
        const dependents = await dependentsOf(sql, await foundFlag(sql, target, { id, needed: 'viewer' }));
        const isSeen = await sightOf(sql, rights, { environmentId, kind: 'feature_flag' });
        return dependents
          .filter((flag) => flag.active && isSeen(flag))
          .map((flag) => ({ id: flag.id, key: flag.key, name: flag.name }));
      },
    }),
  ];
}

/** Making, changing and deleting flags. */
function flagWriteRoutes({ sql, transaction, payloadSecrets: secrets }: FlagDeps) {
  const common = { tags, scope: 'feature_flag:write', below: belowEnvironment(sql) } as const;
  const writerOf = async (
    { userId }: Caller,
    target: AddressedProject,
    { filters }: { filters?: unknown },
  ): Promise<FlagWriter> => {
    const { environmentId, organizationId, rights } = target;
    await requireNamedRecords(sql, target, filters);
    const tried = await inTimeSlices(tryPatterns(filters));
    return { userId, environmentId, organizationId, rights, secrets, tried };
  };
  return [
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: flagsPath,
      operationId: 'feature_flags_create',
      summary: 'Create a feature flag',
      description: 'Makes a flag. Without `filters` everybody gets it. SDKs see it within a second.',
      body: newFlag,
      refusedBody: refusedFlagFields,
      responses: { 201: { description: 'The new flag.', schema: featureFlag } },
      examples: { request: newFlagExample, response: featureFlagExample },
      handler: async ({ caller, target, body }) => {
        const writer = await writerOf(caller, target, body);
        const row = await transaction((tx) => createFlag(tx, writer, body));
        return showFlag(sql, row, { secrets, rights: target.rights });
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        ...common,
        method,
        path: `${flagsPath}/:id`,
        operationId: `feature_flags_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a feature flag' : 'Change, delete or restore a feature flag',
        description:
          'What is not sent stays as it is, single keys of `filters` too. `deleted: true` is the only way to remove a flag, `false` brings it back. With `version` and `original_flag`, a field that others changed meanwhile is not overwritten (409). Another `key` gives everybody another bucket.',
        params: flagParams,
        body: method === 'PUT' ? newFlag : flagChanges,
        refusedBody: refusedFlagFields,
        responses: {
          200: { description: 'The flag as it is now.', schema: featureFlag },
          409: { description: 'Another user has changed the same fields meanwhile.' },
        },
        examples: {
          request: method === 'PUT' ? newFlagExample : { active: false },
          response: method === 'PUT' ? featureFlagExample : { ...featureFlagExample, active: false, version: 2 },
        },
        handler: async ({ caller, target, params: { id }, body }) => {
          const writer = await writerOf(caller, target, body);
          const row = await transaction((tx) => changeFlag(tx, writer, { id, changes: body }));
          return showFlag(sql, row, { secrets, rights: target.rights });
        },
      }),
    ),
    ...defineRoutes({
      ...common,
      method: 'DELETE',
      path: `${flagsPath}/:id`,
      operationId: 'feature_flags_destroy',
      summary: 'Refuse to remove a feature flag',
      description: 'A flag is never removed: PATCH it with `{"deleted": true}` instead.',
      params: Type.Object({ id: Type.String({ description: 'Not looked at.' }) }),
      responses: { 405: { description: 'Always, without a body.' } },
      handler: async () => undefined,
    }),
  ];
}

/** Keeping who has a flag now. */
function flagCohortRoute({ sql, transaction }: Pick<FlagDeps, 'sql' | 'transaction'>) {
  return defineRoutes({
    method: 'POST',
    below: belowEnvironment(sql),
    path: `${flagsPath}/:id/create_static_cohort_for_flag`,
    operationId: 'feature_flags_create_static_cohort_for_flag',
    summary: 'Make a cohort of those who have a feature flag',
    description:
      'Makes a static cohort that is filled, in the background, with the persons for whom the flag is on. Needs `feature_flag:read` as well.',
    tags,
    scope: 'cohort:write',
    params: flagParams,
    responses: {
      201: {
        description: 'The cohort.',
        schema: Type.Object({ cohort }, { title: 'CohortOfFeatureFlag' }),
      },
    },
    examples: { response: { cohort: cohortExample } },
    handler: async ({ caller, target, params: { id } }) => {
      requireScope(caller, 'feature_flag:read');
      const { key, filters } = await foundFlag(sql, target, { id, needed: 'viewer' });
      await requireNamedRecords(sql, target, filters);
      const body = { name: `Users with feature flag ${key} enabled at ${new Date().toISOString()}`, is_static: true };
      const row = await transaction((tx) =>
        createCohort(tx, { userId: caller.userId, target }, { body, fillFrom: { flag: id } }),
      );
      return { cohort: toCohort(row) };
    },
  });
}

const error = 'No dashboards are made for flags here.';
const refusal = Type.Object(
  {
    success: Type.Boolean({ description: 'Always false.' }),
    error: Type.String({ description: 'Why.' }),
  },
  { title: 'DashboardRefusal' },
);

/** Existing scripts ask for a dashboard of a flag's usage: they are told that there is none, in the form they know. */
function flagDashboardRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
  return [
    {
      path: 'dashboard',
      operationId: 'feature_flags_dashboard',
      summary: 'Refuse to make a dashboard of a feature flag',
    },
    {
      path: 'enrich_usage_dashboard',
      operationId: 'feature_flags_enrich_usage_dashboard',
      summary: "Refuse to add to a feature flag's dashboard",
    },
  ].flatMap(({ path, operationId, summary }) =>
    defineRoutes({
      method: 'POST',
      below: belowEnvironment(sql),
      path: `${flagsPath}/:id/${path}`,
      operationId,
      summary,
      description: 'Dashboards belong to a product that is not here.',
      tags,
      scope: 'feature_flag:write',
      params: flagParams,
      responses: { 400: { description: 'Always, of a flag that is there.', schema: refusal } },
      examples: { response: { success: false, error } },
      handler: async ({ target, params: { id } }) => {
        await foundFlag(sql, target, { id, needed: 'editor' });
        return { success: false, error };
      },
    }),
  );
}
