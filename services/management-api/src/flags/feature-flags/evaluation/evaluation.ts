// Declares the routes that evaluate feature flags for one user, and explain the value of each flag.

import { cutToCodePoints, isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import {
  type CompiledFlags,
  createExplainer,
  type EvaluationContext,
  evaluateFlagsInSteps,
  type FlagExplanation,
  type FlagResult,
  findNeededData,
  type Steps,
  selectFlags,
  toFlagValue,
} from '@millrace/flags';
import { compileDefinitions, loadDefinitions, loadStoredData, runInTimeSlices } from '@millrace/flags/store';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../../access/addressed-project.ts';
import { defineRoutes } from '../../../access/define-route.ts';
import { createVisibilityCheck } from '../../../access/record-rights.ts';
import { flagConditions, toFlagOrder } from '../list-query.ts';
import type { FlagDeps } from '../payloads.ts';
import { flagsPath, minimalFlag, minimalFlagExample, flagTags as tags } from '../schema.ts';
import { toMinimalFlag } from '../show.ts';
import { findDistinctIdOfUser, findInactiveFlags, listFlags } from '../store.ts';

const groups = Type.Optional(
  Type.String({ description: 'JSON object that maps names of group types to group keys: `{"company": "acme"}`.' }),
);
const myFlags = Type.Array(
  Type.Object({
    feature_flag: minimalFlag,
    value: Type.Unsafe<boolean | string>({
      type: ['boolean', 'string'],
      description: 'Variant key or true if the flag is on, otherwise false.',
    }),
  }),
);
/** Maximum number of flags in the response, which is not paginated. */
const maxOwnFlags = 1000;

export function flagEvaluationRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', below: environmentBasePaths(sql) } as const;
  return [
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/my_flags`,
      operationId: 'feature_flags_my_flags',
      summary: 'Evaluate feature flags for yourself',
      description:
        "Evaluates the project's flags for the caller, using the caller's own distinct ID. Returns at most " +
        `${maxOwnFlags} flags and 2 MiB, newest first.`,
      query: Type.Object({ groups }),
      responses: { 200: { description: 'The flags with their values.', schema: myFlags } },
      examples: { response: [{ feature_flag: minimalFlagExample, value: true }] },
      handler: async ({ caller, target, query }) => {
        const subject = { environmentId: target.environmentId, groups: parseGroups(query.groups) };
        const distinctId = (await findDistinctIdOfUser(sql, caller.userId)) ?? '';
        const evaluated = await evaluateFlagsFor(sql, { ...subject, distinctId });
        const values = new Map(evaluated?.results.map((result) => [result.id, toFlagValue(result)]));
        const page = { order: toFlagOrder(undefined), limit: maxOwnFlags, offset: 0 };
        const { rows } = await listFlags(sql, flagConditions(target, {}), page);
        return rows.map((row) => ({ feature_flag: toMinimalFlag(row), value: values.get(row.id) ?? false }));
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/evaluation_reasons`,
      operationId: 'feature_flags_evaluation_reasons',
      summary: 'Evaluate feature flags for a person, with reasons',
      description:
        'Evaluates every flag with the stored properties of the person and the groups, and returns the results by flag key. For every ' +
        'condition, `explanation` lists the properties, the source of each value (never the value itself), and the hash that was ' +
        'compared with the rollout. `explanation` is null for inactive flags, and once all explanations together exceed 2 MiB.',
      query: Type.Object({
        distinct_id: Type.String({ minLength: 1, description: 'Distinct ID of the person.' }),
        groups,
        person_properties: Type.Optional(
          Type.String({ description: 'JSON object of person properties that override the stored properties.' }),
        ),
      }),
      responses: {
        200: { description: 'The flags with their values and reasons.', schema: evaluationReasonsResponse },
      },
      examples: { response: evaluationReasonsExample },
      handler: async ({ target: { environmentId, rights }, query }) => {
        const subject = { environmentId, distinctId: query.distinct_id, groups: parseGroups(query.groups) };
        const personProperties = parsePersonProperties(query.person_properties);
        const evaluated = await evaluateFlagsFor(sql, { ...subject, personProperties });
        if (evaluated === null) return {};
        const isSeen = await createVisibilityCheck(sql, rights, { environmentId, kind: 'feature_flag' });
        const results = evaluated.results.filter(isSeen);
        const inactive = (await findInactiveFlags(sql, environmentId)).filter(isSeen);
        return runInTimeSlices(evaluationReasons({ ...evaluated, results }, inactive));
      },
    }),
  ];
}

interface EvaluationSubject {
  environmentId: number;
  distinctId: string;
  groups: Record<string, unknown>;
  /** Properties that replace the person's stored properties. */
  personProperties?: Record<string, unknown>;
}

interface Evaluation {
  flags: CompiledFlags;
  context: EvaluationContext;
  results: FlagResult[];
}

/** Maximum length of an ID. Longer IDs are truncated, as in the SDK endpoint. */
const longestId = 200;

/**
 * Evaluates every active flag of an environment for a user, with the currently stored data. Writes nothing.
 * @throws database errors. The endpoint for SDKs, in contrast, omits flags that it cannot evaluate.
 */
async function evaluateFlagsFor(sql: Sql, subject: EvaluationSubject): Promise<Evaluation | null> {
  const { environmentId, groups, personProperties = {} } = subject;
  const definitions = await loadDefinitions(sql, environmentId);
  if (definitions === null) return null;
  const flags = await compileDefinitions(definitions);
  const distinctId = cutToCodePoints(subject.distinctId, longestId);
  const request = { distinctId, groups, personProperties, groupProperties: {} };
  const selected = selectFlags(flags, {});
  const failures: unknown[] = [];
  const stored = await loadStoredData(sql, {
    environmentId,
    distinctId,
    flags,
    needed: findNeededData(flags, selected, request),
    onFailure: (error) => failures.push(error),
  });
  if (failures.length > 0) throw failures[0];
  const context = { ...request, stored, now: Date.now() };
  const { results } = await runInTimeSlices(evaluateFlagsInSteps(flags, selected, context));
  return { flags, context, results };
}

/** Maximum total size in bytes of the explanations in one response. */
const maxBytes = 2 * 1024 * 1024;

interface EvaluationReason {
  value: boolean | string;
  evaluation: { reason: string; condition_index: number | null; description: string };
  explanation: Record<string, unknown> | null;
}

/**
 * Yields each flag's value with its reason, by flag key. Evaluates one flag per step.
 * @param inactiveKeys the keys of the flags that are turned off
 */
function* evaluationReasons(
  evaluated: Evaluation,
  inactiveFlags: readonly { key: string }[],
): Steps<Record<string, EvaluationReason>> {
  const explain = createExplainer(evaluated.flags, evaluated);
  let bytes = 0;
  const active: [string, EvaluationReason][] = [];
  for (const result of evaluated.results) {
    const flag = evaluated.flags.byKey.get(result.key);
    const explanation = flag !== undefined && bytes < maxBytes ? inApiNames(explain(flag)) : null;
    bytes += JSON.stringify(explanation).length;
    const { code, conditionIndex, description } = result.reason;
    const evaluation = { reason: code, condition_index: conditionIndex, description };
    active.push([result.key, { value: toFlagValue(result), evaluation, explanation }]);
    yield;
  }
  const disabled = { reason: 'disabled', condition_index: null, description: 'Feature flag is disabled' };
  const inactive = inactiveFlags.map(({ key }): [string, EvaluationReason] => [
    key,
    { value: false, evaluation: disabled, explanation: null },
  ]);
  return Object.fromEntries([...active, ...inactive]);
}

function inApiNames({ variantHash, holdout, ...explanation }: FlagExplanation): Record<string, unknown> {
  return {
    ...explanation,
    holdout: holdout && { percentage: holdout.percentage, hash: holdout.hash, is_held_out: holdout.isHeldOut },
    variant_hash: variantHash,
  };
}

const nullable = (type: string, description: string) => ({ type: [type, 'null'], description });

const evaluationReasonsResponse = Type.Unsafe<Record<string, EvaluationReason>>({
  type: 'object',
  description: 'Results by flag key.',
  additionalProperties: {
    type: 'object',
    required: ['value', 'evaluation', 'explanation'],
    properties: {
      value: { type: ['boolean', 'string'], description: 'Variant key or true if the flag is on, otherwise false.' },
      evaluation: {
        type: 'object',
        required: ['reason', 'condition_index', 'description'],
        properties: {
          reason: { type: 'string', description: 'Reason code.' },
          condition_index: nullable('integer', 'Index of the condition set that decided the result, starting at 0.'),
          description: { type: 'string', description: 'The reason in plain text.' },
        },
      },
      explanation: {
        ...nullable('object', 'How the result was determined.'),
        additionalProperties: true,
      },
    },
  },
});

const evaluationReasonsExample: Record<string, EvaluationReason> = {
  'new-checkout': {
    value: true,
    evaluation: { reason: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
    explanation: {
      hashed: 'distinct_id',
      holdout: null,
      enrollment: null,
      conditions: [
        {
          outcome: 'match',
          filters: [{ about: 'person', key: 'plan', source: 'stored', property: 'plan', outcome: true }],
          rollout: { percentage: 50, hash: 0.2318 },
        },
      ],
      variant_hash: null,
    },
  },
};

/**
 * Parses the query parameter `groups`, a JSON object that maps group types to group keys.
 * @throws AppError `invalid`
 */
function parseGroups(text: string | undefined): Record<string, unknown> {
  return parseObject(text, 'groups', 'that maps group types to group keys, such as {"company": "acme"}');
}

/** Parses the query parameter `person_properties`, a JSON object. @throws AppError `invalid` */
function parsePersonProperties(text: string | undefined): Record<string, unknown> {
  return parseObject(text, 'person_properties', 'of person properties, such as {"plan": "free"}');
}

function parseObject(text: string | undefined, attr: string, what: string): Record<string, unknown> {
  if (text === undefined || text === '') return {};
  const object = parsed(text);
  if (isObject(object)) return object;
  throw new AppError('invalid', `\`${attr}\` must be a JSON object ${what}.`, { code: 'invalid_input', attr });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
