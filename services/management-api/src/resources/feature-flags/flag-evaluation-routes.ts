import { flagValue } from '@millrace/flags';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { findDistinctIdOfUser } from './caller-store.ts';
import { evaluateFlagsFor } from './evaluate-flags-for.ts';
import { evaluationReasons } from './evaluation-reasons.ts';
import { evaluationReasonsAnswer, evaluationReasonsExample } from './evaluation-reasons-schema.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagsPath, flagTags as tags } from './flag-params.ts';
import { minimalFlag, minimalFlagExample } from './flag-schema.ts';
import { findInactiveKeys, listFlags } from './flag-store.ts';
import { flagConditions, flagOrder } from './list-flags-query.ts';
import { parseGroups, parsePersonProperties } from './parse-object-query.ts';
import { toMinimalFlag } from './to-feature-flag.ts';

const groups = Type.Optional(
  Type.String({ description: 'JSON object of group keys by the names of their types: `{"company": "acme"}`.' }),
);
const myFlags = Type.Array(
  Type.Object({
    feature_flag: minimalFlag,
    value: Type.Unsafe<boolean | string>({
      type: ['boolean', 'string'],
      description: 'Its variant, else whether it is on.',
    }),
  }),
);
/** The answer has no pages. */
const mostOfMine = 1000;

/** What flags are for somebody. */
export function flagEvaluationRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', target: addressedProject(sql) } as const;
  return [
    defineRoute({
      ...common,
      path: `${flagsPath}/my_flags`,
      operationId: 'feature_flags_my_flags',
      summary: 'Show what feature flags are for you',
      description: `The flags of a project, the newest first, and what each is for the caller as a person of that project. At most ${mostOfMine}, and 2 MiB.`,
      params: projectParams,
      query: Type.Object({ groups }),
      responses: { 200: { description: 'The flags.', schema: myFlags } },
      examples: { response: [{ feature_flag: minimalFlagExample, value: true }] },
      handler: async ({ caller, target: { environmentId }, query }) => {
        const asker = { environmentId, groups: parseGroups(query.groups) };
        const distinctId = (await findDistinctIdOfUser(sql, caller.userId)) ?? '';
        const evaluated = await evaluateFlagsFor(sql, { ...asker, distinctId });
        const values = new Map(evaluated?.results.map((result) => [result.id, flagValue(result)]));
        const page = { order: flagOrder(undefined), limit: mostOfMine, offset: 0 };
        const { rows } = await listFlags(sql, flagConditions(environmentId, {}), page);
        return rows.map((row) => ({ feature_flag: toMinimalFlag(row), value: values.get(row.id) ?? false }));
      },
    }),
    defineRoute({
      ...common,
      path: `${flagsPath}/evaluation_reasons`,
      operationId: 'feature_flags_evaluation_reasons',
      summary: 'Show what feature flags are for somebody, and why',
      description:
        'Every flag by its key, by what is stored of the person and the groups. `explanation` names for every condition the properties, where the value of each came from (never the value), and the hash that the rollout was compared with; it is null for inactive flags, and behind the first 2 MiB.',
      params: projectParams,
      query: Type.Object({
        distinct_id: Type.String({ minLength: 1, description: 'Who it is about.' }),
        groups,
        person_properties: Type.Optional(
          Type.String({ description: 'JSON object of properties that count instead of what is stored.' }),
        ),
      }),
      responses: { 200: { description: 'The flags.', schema: evaluationReasonsAnswer } },
      examples: { response: evaluationReasonsExample },
      handler: async ({ target: { environmentId }, query }) => {
        const asker = { environmentId, distinctId: query.distinct_id, groups: parseGroups(query.groups) };
        const personProperties = parsePersonProperties(query.person_properties);
        const evaluated = await evaluateFlagsFor(sql, { ...asker, personProperties });
        return evaluated === null ? {} : evaluationReasons(evaluated, await findInactiveKeys(sql, environmentId));
      },
    }),
  ];
}
