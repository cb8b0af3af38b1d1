import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { offsetPage, offsetPageOf } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { dependentsOf } from './check-dependents.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagParams, flagsPath, flagTags as tags } from './flag-params.ts';
import type { FlagRow } from './flag-row.ts';
import { featureFlag, featureFlagExample } from './flag-schema.ts';
import { flagStatus, flagStatusReason } from './flag-status.ts';
import { findFlag, listFlags } from './flag-store.ts';
import { flagConditions, flagOrder, listFlagsQuery } from './list-flags-query.ts';
import { showFlag, showFlags } from './show-flags.ts';

const statusAnswer = Type.Object({
  status: Type.String({ description: '`active`, `stale`, `archived` or `deleted`.' }),
  reason: Type.String({ description: 'Why.' }),
});
const dependentFlags = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'Number of the flag.' }),
    key: Type.String({ description: 'Its key.' }),
    name: Type.String({ description: 'What it is for.' }),
  }),
);

/** Looking at flags. */
export function flagReadRoutes({ sql, payloadSecrets }: FlagDeps) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', target: addressedProject(sql) } as const;
  return [
    defineRoute({
      ...common,
      path: flagsPath,
      operationId: 'feature_flags_list',
      summary: 'List feature flags',
      description:
        'The flags of a project, the newest first, without deleted and archived ones. Encrypted payloads are not shown.',
      params: projectParams,
      query: listFlagsQuery,
      responses: { 200: { description: 'One page of flags.', schema: offsetPageOf(featureFlag) } },
      examples: { response: { count: 1, next: null, previous: null, results: [featureFlagExample] } },
      handler: async ({ target: { environmentId }, query, request }) => {
        const page = { limit: query.limit, offset: query.offset, order: flagOrder(query.order) };
        const { count, rows } = await listFlags(sql, flagConditions(environmentId, query), page);
        return offsetPage(request, query, { count, results: await showFlags(sql, rows) });
      },
    }),
    defineRoute({
      ...common,
      path: `${flagsPath}/:id`,
      operationId: 'feature_flags_retrieve',
      summary: 'Show a feature flag',
      description: 'One flag, also when it is deleted.',
      params: flagParams,
      responses: { 200: { description: 'The flag.', schema: featureFlag } },
      examples: { response: featureFlagExample },
      handler: async ({ target: { environmentId }, params: { id } }) =>
        showFlag(sql, await requireFlag(sql, environmentId, id), payloadSecrets),
    }),
    defineRoute({
      ...common,
      path: `${flagsPath}/:id/status`,
      operationId: 'feature_flags_status',
      summary: 'Show whether a feature flag is of use',
      description:
        'A flag is stale when no SDK has asked for it for 30 days, or when it was never asked for, is older than that and on for everybody.',
      params: flagParams,
      responses: { 200: { description: 'Its status.', schema: statusAnswer } },
      examples: { response: { status: 'active', reason: 'Flag is in use' } },
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const row = await requireFlag(sql, environmentId, id);
        return { status: flagStatus(row), reason: flagStatusReason(row) };
      },
    }),
    defineRoute({
      ...common,
      path: `${flagsPath}/:id/dependent_flags`,
      operationId: 'feature_flags_dependent_flags',
      summary: 'List the flags that depend on a flag',
      description: 'Active flags with a condition on this one.',
      params: flagParams,
      responses: { 200: { description: 'The flags.', schema: dependentFlags } },
      examples: { response: [{ id: 2, key: 'new-checkout-color', name: 'The color of the new checkout' }] },
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const dependents = await dependentsOf(sql, await requireFlag(sql, environmentId, id));
        return dependents
          .filter(({ active }) => active)
          .map((flag) => ({ id: flag.id, key: flag.key, name: flag.name }));
      },
    }),
  ];
}

/** @throws AppError `not_found`. */
async function requireFlag(sql: Sql, environmentId: number, id: number): Promise<FlagRow> {
  const row = await findFlag(sql, environmentId, id);
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}
