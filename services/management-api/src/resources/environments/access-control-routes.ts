import { AppError } from '@millrace/errors';
import type { TObject } from 'typebox';
import { defineRoute } from '../../access/define-route.ts';
import { accessRuleChangeRoute } from './access-rule-routes.ts';
import { findEnvironmentForCaller } from './environment-store.ts';
import type { ItemDeps, ItemFamily } from './item-family.ts';

/**
 * Who may use an environment. Reading answers the environment itself (docs/api-rules.md#ordered-routes, row 28), in
 * which `access_control`, `effective_membership_level` and `user_access_level` tell; the rules are read on the project.
 */
export function accessControlRoutes<P extends TObject>(deps: ItemDeps, family: ItemFamily<P>) {
  const { path, prefix, params, target, schema, example, show } = family;
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/access_controls`,
      operationId: `${prefix}_access_controls`,
      summary: 'Show an environment with its access control',
      description: 'The environment. The single rules are under the same path of a project.',
      tags: ['environments'],
      scope: 'project:read',
      params,
      responses: { 200: { description: 'The environment.', schema } },
      examples: { response: example },
      target,
      handler: async ({ caller, target: found }) => {
        const row = await findEnvironmentForCaller(deps.sql, caller.userId, found.environmentId);
        if (!row) throw new AppError('not_found', 'Not found.');
        return show(row, { secret: deps.tokenSecret(), now: new Date() });
      },
    }),
    accessRuleChangeRoute(deps, family),
  ];
}
