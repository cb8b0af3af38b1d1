import type { FlagDefinition } from '@millrace/flags';

/** One condition on a property of the person, in the words of all three that evaluate it. */
export interface MixedFilter {
  key: string;
  operator: string;
  value: string | string[];
  /** What Unleash calls it. */
  constraint: { contextName: string; operator: string; value?: string; values?: string[] };
}

export interface MixedFlag {
  key: string;
  /** Any of them is enough. */
  conditions: { filters: MixedFilter[]; rolloutPercentage: number }[];
  /** Of equal weight. */
  variants: string[];
}

const anyOf = (key: string, values: string[]): MixedFilter => ({
  ...{ key, operator: 'exact', value: values },
  constraint: { contextName: key, operator: 'IN', values },
});
const noneOf = (key: string, values: string[]): MixedFilter => ({
  ...{ key, operator: 'is_not', value: values },
  constraint: { contextName: key, operator: 'NOT_IN', values },
});
const single = (key: string, operator: string, value: string, theirs: string): MixedFilter => ({
  ...{ key, operator, value },
  constraint: { contextName: key, operator: theirs, value },
});
const contains = (key: string, value: string): MixedFilter => ({
  ...{ key, operator: 'icontains', value },
  constraint: { contextName: key, operator: 'STR_CONTAINS', values: [value] },
});
const all = (...filters: MixedFilter[]) => ({ filters, rolloutPercentage: 100 });
const some = (rolloutPercentage: number, ...filters: MixedFilter[]) => ({ filters, rolloutPercentage });
/** Unleash compares no other date than the time of the question: dates are numbers there (`unleashContext`). */
const after = (key: string, value: string): MixedFilter => ({
  ...{ key, operator: 'is_date_after', value },
  constraint: { contextName: key, operator: 'NUM_GT', value: String(Date.parse(value)) },
});

/** What projects ask: shares of all, properties of each type, variants, two conditions. */
const kinds: Omit<MixedFlag, 'key'>[] = [
  { conditions: [some(50)], variants: [] },
  { conditions: [all(anyOf('plan', ['pro', 'enterprise']))], variants: [] },
  { conditions: [some(30, anyOf('country', ['DE', 'FR', 'US']))], variants: [] },
  { conditions: [all(single('age', 'gt', '30', 'NUM_GT'))], variants: [] },
  { conditions: [some(80, contains('email', '@example.com'))], variants: [] },
  { conditions: [all(single('app_version', 'semver_gt', '2.1.0', 'SEMVER_GT'))], variants: [] },
  { conditions: [all(after('signed_up_at', '2025-01-01T00:00:00Z'))], variants: [] },
  { conditions: [all()], variants: ['control', 'test'] },
  {
    conditions: [some(10, anyOf('plan', ['free'])), some(60, anyOf('country', ['US']), noneOf('plan', ['free']))],
    variants: ['red', 'green', 'blue', 'grey'],
  },
  { conditions: [some(90, noneOf('country', ['GB', 'IE']), single('age', 'lt', '60', 'NUM_LT'))], variants: [] },
];

/** So many flags of all kinds in turn; their keys differ. */
export function mixedFlags(count: number): MixedFlag[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `flag-${index}`,
    ...(kinds[index % kinds.length] ?? { conditions: [], variants: [] }),
  }));
}

/** As it is stored. */
export function flagFilters({ conditions, variants }: MixedFlag): object {
  const share = 100 / variants.length;
  return {
    groups: conditions.map(({ filters, rolloutPercentage }) => ({
      properties: filters.map(({ key, operator, value }) => ({ key, operator, value, type: 'person' })),
      rollout_percentage: rolloutPercentage,
      variant: null,
    })),
    multivariate:
      variants.length === 0
        ? null
        : { variants: variants.map((key) => ({ key, name: key, rollout_percentage: share })) },
    payloads: {},
  };
}

/** As an evaluation takes them. */
export function flagDefinitions(flags: readonly MixedFlag[]): FlagDefinition[] {
  return flags.map((flag, index) => ({
    id: index + 1,
    key: flag.key,
    version: 1,
    active: true,
    filters: flagFilters(flag),
  }));
}
