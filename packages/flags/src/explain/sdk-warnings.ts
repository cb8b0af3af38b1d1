// Finds flags that SDKs evaluate differently from the server, and returns warnings for users who edit these flags.

import { isObject } from '@millrace/contracts';
import type { FlagDefinition } from '../definitions.ts';

type Flag = Pick<FlagDefinition, 'filters' | 'bucketing_identifier' | 'ensure_experience_continuity'>;

interface Parts {
  flag: Flag;
  filters: Record<string, unknown>;
  conditions: Record<string, unknown>[];
}

/** Definitions that some SDKs evaluate differently from the server in local evaluation, with the warnings to show. */
const differences: { isSo: (parts: Parts) => boolean; warnings: string[] }[] = [
  {
    isSo: ({ conditions }) =>
      conditions.some((one) => propertiesOf(one).length > 0 && (one.rollout_percentage ?? 100) !== 100),
    warnings: [
      'posthog-go before 1.5.6 ignores the rollout of a condition with filters: everyone who matches the filters gets the flag.',
    ],
  },
  {
    isSo: ({ filters, conditions }) =>
      [...conditions, ...variantsOf(filters)].some(({ rollout_percentage: part }) => !isWhole(part)),
    warnings: [
      'posthog-go before 1.5.7 cannot parse a fractional rollout percentage. It discards all definitions and requests every flag from ' +
        'the server.',
    ],
  },
  {
    isSo: ({ flag }) => flag.bucketing_identifier === 'device_id',
    warnings: [
      'posthog-go before 1.10.0, posthog-ruby and posthog-php hash the distinct ID instead of the device ID, so a user may get a ' +
        'different variant.',
    ],
  },
  {
    isSo: ({ filters }) => isObject(filters.holdout),
    warnings: [
      'posthog-go, posthog-ruby and posthog-php do not support holdouts: users in the holdout group get the flag.',
    ],
  },
  {
    isSo: ({ filters }) => filters.feature_enrollment === true || listOf(filters.super_groups).length > 0,
    warnings: [
      'posthog-node, posthog-go, posthog-ruby and posthog-php ignore enrollment in early access features and evaluate only the ' +
        'conditions.',
    ],
  },
  {
    isSo: ({ filters }) => listOf(filters.super_groups).length > 0,
    warnings: ['posthog-python supports `feature_enrollment` but not the older `super_groups`.'],
  },
  {
    isSo: ({ filters, conditions }) => filters.early_exit === true && conditions.length > 1,
    warnings: ['posthog-go before 1.15.0 ignores `early_exit` and continues with the next condition.'],
  },
  {
    isSo: ({ filters, conditions }) =>
      conditions.some(
        ({ aggregation_group_type_index: group }) =>
          group !== undefined && (group ?? null) !== (filters.aggregation_group_type_index ?? null),
      ),
    warnings: ['posthog-go before 1.12.5 evaluates a group condition as a condition on the person.'],
  },
  {
    isSo: ({ conditions }) =>
      conditions.some((one) => propertiesOf(one).some(({ operator }) => operator === 'not_icontains')),
    warnings: [
      'posthog-php evaluates `not_icontains` incorrectly: a value that begins with the search text still matches.',
    ],
  },
  {
    isSo: ({ conditions }) => hasFilter(conditions, ({ type, operator }) => type === 'cohort' && operator === 'not_in'),
    warnings: [
      'posthog-go up to 1.23.1, posthog-ruby up to 3.23.2 and posthog-php up to 4.13.2 treat `not_in` in a cohort filter as `in`: ' +
        'only members of the cohort get the flag.',
    ],
  },
  {
    isSo: ({ conditions }) =>
      hasFilter(
        conditions,
        ({ type, operator = 'exact', value }) =>
          type !== 'cohort' && (operator === 'exact' || operator === 'is_not') && [value].flat().some(hasCaseOrType),
      ),
    warnings: [
      'posthog-go up to 1.23.1 compares case and type for `exact` and `is_not`: `Pro` does not equal `pro`, and the number 5 ' +
        'does not equal the string `5`.',
    ],
  },
  {
    isSo: ({ conditions }) => hasFilter(conditions, ({ operator }) => orderings.has(operator)),
    warnings: [
      'posthog-ruby up to 3.23.2 and posthog-php up to 4.13.2 compare string properties alphabetically, so `10` is less than 9. ' +
        'posthog-rs up to 0.21.0 does so if the string is not a number.',
    ],
  },
];

const orderings = new Set<unknown>(['gt', 'gte', 'lt', 'lte']);

/**
 * Returns whether clients are likely to send the property in upper or mixed case, or with a different type. Lower-case
 * strings are usually sent unchanged.
 */
function hasCaseOrType(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'number' || typeof value === 'boolean';
  return value !== value.toLowerCase() || /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(value);
}

/**
 * Returns warnings for users who edit a flag, about SDKs whose local evaluation of the flag differs from the server.
 * The warnings depend only on the definition. docs/flags.md describes the differences for unusual property values. A
 * flag with experience continuity has no warnings, because no SDK evaluates such a flag locally.
 */
export function findSdkWarnings(flag: Flag): string[] {
  if (flag.ensure_experience_continuity === true) return [];
  const filters = isObject(flag.filters) ? flag.filters : {};
  const parts = { flag, filters, conditions: listOf(filters.groups) };
  return differences.flatMap(({ isSo, warnings }) => (isSo(parts) ? warnings : []));
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function hasFilter(conditions: Parts['conditions'], fits: (filter: Record<string, unknown>) => boolean): boolean {
  return conditions.some((one) => propertiesOf(one).some(fits));
}

function propertiesOf({ properties }: Record<string, unknown>) {
  return listOf(properties);
}

function variantsOf({ multivariate }: Record<string, unknown>) {
  return isObject(multivariate) ? listOf(multivariate.variants) : [];
}

function isWhole(percentage: unknown): boolean {
  return typeof percentage !== 'number' || Number.isInteger(percentage);
}
