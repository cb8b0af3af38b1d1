import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { addressedProject } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagParams, flagsPath, flagTags as tags } from './flag-params.ts';
import { findFlagKeys } from './flag-store.ts';

const error = 'This installation has no dashboards.';
const refusal = Type.Object({
  success: Type.Boolean({ description: 'Always false.' }),
  error: Type.String({ description: 'Why.' }),
});

/** Existing scripts ask for a dashboard of a flag's usage: they are told that there is none, in the form they know. */
export function flagDashboardRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
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
  ].map(({ path, operationId, summary }) =>
    defineRoute({
      method: 'POST',
      path: `${flagsPath}/:id/${path}`,
      operationId,
      summary,
      description: 'Dashboards belong to a product that is not here.',
      tags,
      scope: 'feature_flag:write',
      params: flagParams,
      responses: { 400: { description: 'Always, of a flag that is there.', schema: refusal } },
      examples: { response: { success: false, error } },
      target: addressedProject(sql),
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const isKnown = (await findFlagKeys(sql, environmentId, [id])).has(id);
        if (!isKnown) throw new AppError('not_found', 'Not found.');
        return { success: false, error };
      },
    }),
  );
}
