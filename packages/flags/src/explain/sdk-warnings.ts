import { isObject } from '@millrace/contracts';
import type { FlagDefinition } from '../definitions.ts';

type Flag = Pick<FlagDefinition, 'filters' | 'bucketing_identifier' | 'ensure_experience_continuity'>;

interface Parts {
  flag: Flag;
  filters: Record<string, unknown>;
  conditions: Record<string, unknown>[];
}

/** What SDKs make of a definition when they evaluate by themselves, where the server makes something else of it. */
const differences: { isSo: (parts: Parts) => boolean; warnings: string[] }[] = [
  {
    isSo: ({ conditions }) =>
      conditions.some((one) => propertiesOf(one).length > 0 && (one.rollout_percentage ?? 100) !== 100),
    warnings: [
      'posthog-go before 1.5.6 gives it to everybody who passes the filters of a condition, whatever its rollout.',
    ],
  },
  {
    isSo: ({ filters, conditions }) =>
      [...conditions, ...variantsOf(filters)].some(({ rollout_percentage: part }) => !isWhole(part)),
    warnings: [
      'posthog-go before 1.5.7 cannot read a rollout with a fraction: it takes none of the definitions, and asks about every flag.',
    ],
  },
  {
    isSo: ({ flag }) => flag.bucketing_identifier === 'device_id',
    warnings: [
      'posthog-go before 1.10.0, posthog-ruby and posthog-php go by the distinct id, not by the device: somebody may get another variant.',
    ],
  },
  {
    isSo: ({ filters }) => isObject(filters.holdout),
    warnings: ['posthog-go, posthog-ruby and posthog-php know no holdout: they give it to those who are held out.'],
  },
  {
    isSo: ({ filters }) => filters.feature_enrollment === true || listOf(filters.super_groups).length > 0,
    warnings: [
      'posthog-node, posthog-go, posthog-ruby and posthog-php do not look at enrolment in an early access feature, only at the conditions.',
    ],
  },
  {
    isSo: ({ filters }) => listOf(filters.super_groups).length > 0,
    warnings: ['posthog-python knows `feature_enrollment`, and not the older `super_groups`.'],
  },
  {
    isSo: ({ filters, conditions }) => filters.early_exit === true && conditions.length > 1,
    warnings: ['posthog-go before 1.15.0 goes on to the next condition where `early_exit` ends.'],
  },
  {
    isSo: ({ filters, conditions }) =>
      conditions.some(
        ({ aggregation_group_type_index: group }) =>
          group !== undefined && (group ?? null) !== (filters.aggregation_group_type_index ?? null),
      ),
    warnings: ['posthog-go before 1.12.5 takes a condition for a group as one for persons.'],
  },
  {
    isSo: ({ conditions }) =>
      conditions.some((one) => propertiesOf(one).some(({ operator }) => operator === 'not_icontains')),
    warnings: ['posthog-php does not find a text at the beginning of a value for `not_icontains`, and lets it pass.'],
  },
  {
    isSo: ({ conditions }) => hasFilter(conditions, ({ type, operator }) => type === 'cohort' && operator === 'not_in'),
    warnings: [
      'posthog-go up to 1.23.1, posthog-ruby up to 3.23.2 and posthog-php up to 4.13.2 ignore `not_in` of a cohort filter: they give the flag to members of the cohort only.',
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
      'posthog-go up to 1.23.1 compares `exact` and `is_not` with case and type: `Pro` is not `pro`, and the number 5 is not the text `5`.',
    ],
  },
  {
    isSo: ({ conditions }) => hasFilter(conditions, ({ operator }) => orderings.has(operator)),
    warnings: [
      'posthog-ruby up to 3.23.2 and posthog-php up to 4.13.2 compare a property that is a text as text, so `10` is less than 9; posthog-rs up to 0.21.0 does so when the text is not a number.',
    ],
  },
];

const orderings = new Set<unknown>(['gt', 'gte', 'lt', 'lte']);

/** Whether a property may well have the same value in another case or type. In lower case, values are usually sent as they are. */
function hasCaseOrType(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'number' || typeof value === 'boolean';
  return value !== value.toLowerCase() || /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(value);
}

/**
 * Sentences about SDKs that evaluate this flag by themselves in another way than the server, for whoever changes it. They look
 * at the definition alone; what depends on odd values of properties is in docs/flags.md. Nothing of a flag that goes by whom
 * somebody was before they logged in: about those every SDK asks.
 */
export function sdkWarnings(flag: Flag): string[] {
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
