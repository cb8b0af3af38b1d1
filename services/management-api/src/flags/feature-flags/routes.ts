import type { Sql } from '@millrace/db';
import { validatePatterns } from '@millrace/flags';
import { runInTimeSlices } from '@millrace/flags/store';
import { type ApiRequest, offsetPage, offsetPageSchema } from '@millrace/http';
import { type Static, Type } from 'typebox';
import { environmentBasePaths, findProjectOfToken } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoute, defineRoutes } from '../../access/define-route.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { createVisibilityCheck } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { cohort, cohortExample, toCohort } from '../../analytics/cohorts/schema.ts';
import { createCohort } from '../../analytics/cohorts/write.ts';
import { flagActivityRoutes } from './changes/activity.ts';
import { flagBulkRoutes } from './changes/bulk.ts';
import { findDependents } from './changes/references.ts';
import { changeFlag, createFlag, type FlagWriter, requireFlag } from './changes/write.ts';
import { flagBlastRadiusRoute } from './evaluation/blast-radius.ts';
import { flagDefinitionRoutes } from './evaluation/definition-routes.ts';
import { flagEvaluationRoutes } from './evaluation/evaluation.ts';
import { flagExposuresRoute } from './exposures/exposures.ts';
import { flagConditions, listFlagsQuery, toFlagOrder } from './list-query.ts';
import type { FlagDeps } from './payloads.ts';
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

/** Declares the routes of an environment's feature flags. Fixed paths come before `:id`, which would match them too. */
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

const statusResponse = Type.Object(
  {
    status: Type.String({ description: '`active`, `stale`, `archived` or `deleted`.' }),
    reason: Type.String({ description: 'Reason for the status.' }),
  },
  { title: 'FeatureFlagStatus' },
);
const dependentFlags = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'ID of the flag.' }),
    key: Type.String({ description: 'Key of the flag.' }),
    name: Type.String({ description: 'Description of the flag.' }),
  }),
);

async function listPage(
  sql: Sql,
  target: AddressedProject,
  { query, request }: { query: Static<typeof listFlagsQuery>; request: ApiRequest },
) {
  return offsetPage(request, query, async (window) => {
    const page = { ...window, order: toFlagOrder(query.order) };
    const { count, rows } = await listFlags(sql, flagConditions(target, query), page);
    return { count, results: await showFlags(sql, rows, target.rights) };
  });
}

/** Declares the route that SDKs from 2021 and earlier, such as posthog-node 1, use to list flags. */
function flagsOfTokenRoute({ sql }: FlagDeps) {
  const scope = 'feature_flag:read';
  return defineRoute({
    method: 'GET',
    path: '/api/feature_flag',
    operationId: 'feature_flag_list',
    summary: 'List feature flags by project API key',
    description:
      'Returns the same list as `/api/projects/:project_id/feature_flags/`, for older SDKs that identify the project by its API key. ' +
      'Use that path in new code.',
    tags,
    scope,
    query: Type.Object({
      token: Type.Optional(
        Type.String({ maxLength: 200, description: 'API key of the project. Defaults to your current project.' }),
      ),
      ...listFlagsQuery.properties,
    }),
    responses: { 200: { description: 'One page of feature flags.', schema: offsetPageSchema(featureFlag) } },
    examples: { response: { count: 1, next: null, previous: null, results: [featureFlagExample] } },
    handler: async ({ caller, query: { token, ...query }, request }) => {
      const route = { path: flagsPath, scope } as const;
      return listPage(sql, await findProjectOfToken(sql, token, { caller, route }), { query, request });
    },
  });
}

function flagReadRoutes({ sql, payloadSecrets }: FlagDeps) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', below: environmentBasePaths(sql) } as const;
  return [
    ...defineRoutes({
      ...common,
      path: flagsPath,
      operationId: 'feature_flags_list',
      summary: 'List feature flags',
      description:
        'Returns the feature flags of the project, newest first by default. Deleted flags are left out, and so are archived flags ' +
        'unless you send `archived=true`. Encrypted payloads are redacted.',
      query: listFlagsQuery,
      responses: { 200: { description: 'One page of feature flags.', schema: offsetPageSchema(featureFlag) } },
      examples: { response: { count: 1, next: null, previous: null, results: [featureFlagExample] } },
      handler: async ({ target, query, request }) => listPage(sql, target, { query, request }),
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id`,
      operationId: 'feature_flags_retrieve',
      summary: 'Show a feature flag',
      description: 'Returns one feature flag, even if it has been deleted.',
      params: flagParams,
      responses: { 200: { description: 'The feature flag.', schema: featureFlag } },
      examples: { response: featureFlagExample },
      handler: async ({ target, params: { id } }) =>
        showFlag(sql, await requireFlag(sql, target, { id, needed: 'viewer' }), {
          secrets: payloadSecrets,
          rights: target.rights,
        }),
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/status`,
      operationId: 'feature_flags_status',
      summary: 'Show the status of a feature flag',
      description:
        'Returns whether the flag is active, stale, archived or deleted. An active flag is stale if no SDK has evaluated it for 30 ' +
        'days. A flag that was never evaluated is stale if it is more than 30 days old and rolled out to everyone.',
      params: flagParams,
      responses: { 200: { description: 'The status of the flag.', schema: statusResponse } },
      examples: { response: { status: 'active', reason: 'Flag is in use' } },
      handler: async ({ target, params: { id } }) => {
        const row = await requireFlag(sql, target, { id, needed: 'viewer' });
        return { status: flagStatus(row), reason: flagStatusReason(row) };
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/dependent_flags`,
      operationId: 'feature_flags_dependent_flags',
      summary: 'List the flags that depend on a flag',
      description: 'Returns the active flags that have a release condition on this flag.',
      params: flagParams,
      responses: { 200: { description: 'The dependent flags.', schema: dependentFlags } },
      examples: { response: [{ id: 2, key: 'new-checkout-color', name: 'The color of the new checkout' }] },
      handler: async ({ target, params: { id } }) => {
        const { environmentId, rights } = target;
        const dependents = await findDependents(sql, await requireFlag(sql, target, { id, needed: 'viewer' }));
        const isSeen = await createVisibilityCheck(sql, rights, { environmentId, kind: 'feature_flag' });
        return dependents
          .filter((flag) => flag.active && isSeen(flag))
          .map((flag) => ({ id: flag.id, key: flag.key, name: flag.name }));
      },
    }),
  ];
}

function flagWriteRoutes({ sql, transaction, payloadSecrets: secrets }: FlagDeps) {
  const common = { tags, scope: 'feature_flag:write', below: environmentBasePaths(sql) } as const;
  const writerOf = async (
    { userId }: Caller,
    target: AddressedProject,
    { filters }: { filters?: unknown },
  ): Promise<FlagWriter> => {
    const { environmentId, organizationId, rights } = target;
    await requireReferencedRecords(sql, target, filters);
    const tried = await runInTimeSlices(validatePatterns(filters));
    return { userId, environmentId, organizationId, rights, secrets, tried };
  };
  return [
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: flagsPath,
      operationId: 'feature_flags_create',
      summary: 'Create a feature flag',
      description:
        'Creates a feature flag. Without `filters`, it is rolled out to everyone. SDKs receive it within a second.',
      body: newFlag,
      refusedBody: refusedFlagFields,
      responses: { 201: { description: 'The new feature flag.', schema: featureFlag } },
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
        summary: method === 'PUT' ? 'Update a feature flag' : 'Update, delete or restore a feature flag',
        description:
          'Changes the fields that are sent and leaves all others unchanged, including omitted keys of `filters`. To delete a flag, ' +
          'send `deleted: true`; to restore it, send `deleted: false`. If you send `version` and `original_flag`, the request ' +
          'fails with 409 when someone else has changed the same fields in the meantime. Changing the `key` assigns everyone to new ' +
          'rollout buckets.',
        params: flagParams,
        body: method === 'PUT' ? newFlag : flagChanges,
        refusedBody: refusedFlagFields,
        responses: {
          200: { description: 'The updated feature flag.', schema: featureFlag },
          409: { description: 'Someone else has changed the same fields in the meantime.' },
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
      summary: 'Not supported. To delete, send PATCH with `deleted: true`',
      description: 'Feature flags cannot be deleted permanently. Send a PATCH request with `deleted: true` instead.',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
  ];
}

function flagCohortRoute({ sql, transaction }: Pick<FlagDeps, 'sql' | 'transaction'>) {
  return defineRoutes({
    method: 'POST',
    below: environmentBasePaths(sql),
    path: `${flagsPath}/:id/create_static_cohort_for_flag`,
    operationId: 'feature_flags_create_static_cohort_for_flag',
    summary: 'Create a static cohort from a feature flag',
    description:
      'Creates a static cohort. In the background, Millrace adds all persons for whom the flag is currently on. Also requires the scope ' +
      '`feature_flag:read`.',
    tags,
    scope: 'cohort:write',
    params: flagParams,
    responses: {
      201: {
        description: 'The new cohort.',
        schema: Type.Object({ cohort }, { title: 'CohortOfFeatureFlag' }),
      },
    },
    examples: { response: { cohort: cohortExample } },
    handler: async ({ caller, target, params: { id } }) => {
      requireScope(caller, 'feature_flag:read');
      const { key, filters } = await requireFlag(sql, target, { id, needed: 'viewer' });
      await requireReferencedRecords(sql, target, filters);
      const body = { name: `Users with feature flag ${key} enabled at ${new Date().toISOString()}`, is_static: true };
      const row = await transaction((tx) =>
        createCohort(tx, { userId: caller.userId, target }, { body, fillFrom: { flag: id } }),
      );
      return { cohort: toCohort(row) };
    },
  });
}

const error = 'Usage dashboards for feature flags are not supported.';
const refusal = Type.Object(
  {
    success: Type.Boolean({ description: 'Always false.' }),
    error: Type.String({ description: 'Reason for the error.' }),
  },
  { title: 'DashboardRefusal' },
);

/**
 * Declares the routes with which existing scripts create usage dashboards for flags. Millrace does not support these
 * dashboards, so the routes return an error that the scripts can handle.
 */
function flagDashboardRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
  return [
    {
      path: 'dashboard',
      operationId: 'feature_flags_dashboard',
      summary: 'Not supported: create a usage dashboard for a feature flag',
    },
    {
      path: 'enrich_usage_dashboard',
      operationId: 'feature_flags_enrich_usage_dashboard',
      summary: 'Not supported. Feature flags have no usage dashboard here',
    },
  ].flatMap(({ path, operationId, summary }) =>
    defineRoutes({
      method: 'POST',
      below: environmentBasePaths(sql),
      path: `${flagsPath}/:id/${path}`,
      operationId,
      summary,
      description: 'Millrace does not include usage dashboards for feature flags.',
      tags,
      scope: 'feature_flag:write',
      params: flagParams,
      responses: { 400: { description: 'Always returned if the flag exists.', schema: refusal } },
      examples: { response: { success: false, error } },
      handler: async ({ target, params: { id } }) => {
        await requireFlag(sql, target, { id, needed: 'editor' });
        return { success: false, error };
      },
    }),
  );
}
