import { AppError } from '@millrace/errors';
import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { groupBlastRadius } from './blast-radius/group-blast-radius.ts';
import { mostLookedAt, personBlastRadius } from './blast-radius/person-blast-radius.ts';
import { checkReferences } from './check-references.ts';
import { parseFlagFilters } from './filters/parse-flag-filters.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagsPath, flagTags as tags } from './flag-params.ts';

const asked = Type.Object({
  condition: Type.Optional(
    Type.Union([freeFormObject(), Type.Null()], { description: 'A condition set, as in the filters of a flag.' }),
  ),
  group_type_index: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 4 }), Type.Null()], {
      description: 'Count groups of this type instead of persons.',
    }),
  ),
});
const radius = Type.Object({
  users_affected: Type.Integer({ description: 'How many have what the filters ask for, whatever the rollout.' }),
  total_users: Type.Integer({ description: 'How many there are.' }),
  is_estimate: Type.Boolean({ description: 'Whether both were reckoned from a sample.' }),
});

/** How many a condition would reach. */
export function flagBlastRadiusRoute({ sql }: Pick<FlagDeps, 'sql'>) {
  return defineRoute({
    method: 'POST',
    path: `${flagsPath}/user_blast_radius`,
    operationId: 'feature_flags_user_blast_radius',
    summary: 'Count whom a condition of a feature flag reaches',
    description: `Persons, or groups of a type, that have what the filters of a condition ask for. In a project with more than ${mostLookedAt} of them, an estimate from so many.`,
    tags,
    scope: 'feature_flag:read',
    params: projectParams,
    body: asked,
    responses: { 200: { description: 'How many.', schema: radius } },
    examples: {
      request: { condition: { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] } },
      response: { users_affected: 120, total_users: 1000, is_estimate: false },
    },
    target: addressedProject(sql),
    handler: async ({ target: { environmentId }, body: { condition, group_type_index: groupType = null } }) => {
      if (!condition) {
        const detail = 'Missing condition for which to get blast radius';
        throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'condition' });
      }
      const { aggregation_group_type_index: _, variant: __, ...conditionAlone } = condition;
      const sent = {
        aggregation_group_type_index: groupType,
        groups: [{ ...conditionAlone, rollout_percentage: 100 }],
      };
      const filters = parseFlagFilters({ sent, stored: null });
      await checkReferences(sql, { environmentId, id: null, key: '', filters });
      const { affected, total, isEstimate } =
        groupType === null
          ? await personBlastRadius(sql, environmentId, filters)
          : await groupBlastRadius(sql, { environmentId, groupType }, filters);
      return { users_affected: affected, total_users: total, is_estimate: isEstimate };
    },
  });
}
