import { findSdkWarnings } from './sdk-warnings.ts';

const everybody = { properties: [], rollout_percentage: 100 };
const pro = { key: 'plan', type: 'person', operator: 'exact', value: ['pro'] };
const one = (condition: object, filters: object = {}) => ({ filters: { groups: [condition], ...filters } });
const variants = (...parts: number[]) => ({
  multivariate: { variants: parts.map((part, n) => ({ key: `v${n}`, rollout_percentage: part })) },
});

test.each<[string, Parameters<typeof findSdkWarnings>[0], RegExp[]]>([
  ['returns no warning for a rollout to everyone', one(everybody), []],
  ['returns no warning for a rollout without filters', one({ properties: [], rollout_percentage: 30 }), []],
  ['returns no warning for filters without a rollout', one({ properties: [pro] }), []],
  ['returns no warning for filters with a rollout of 100 %', one({ properties: [pro], rollout_percentage: 100 }), []],
  [
    'warns about filters with a rollout',
    one({ properties: [pro], rollout_percentage: 30 }),
    [/^posthog-go before 1\.5\.6 /],
  ],
  [
    'warns about filters with a rollout of 0 %',
    one({ properties: [pro], rollout_percentage: 0 }),
    [/^posthog-go before 1\.5\.6 /],
  ],
  [
    'warns about a fractional rollout',
    one({ properties: [], rollout_percentage: 55.5 }),
    [/^posthog-go before 1\.5\.7 /],
  ],
  [
    'warns about a fractional percentage of a variant',
    one(everybody, variants(33.3, 66.7)),
    [/^posthog-go before 1\.5\.7 /],
  ],
  ['returns no warning for whole percentages of variants', one(everybody, variants(50, 50)), []],
  [
    'returns two warnings for filters with a fractional rollout',
    one({ properties: [pro], rollout_percentage: 0.5 }),
    [/1\.5\.6/, /1\.5\.7/],
  ],
  [
    'warns about hashing the device ID',
    { ...one(everybody), bucketing_identifier: 'device_id' },
    [/hash the distinct ID/],
  ],
  ['warns about a holdout', one(everybody, { holdout: { id: 1, exclusion_percentage: 10 } }), [/holdouts/]],
  ['warns about enrollment', one(everybody, { feature_enrollment: true }), [/enrollment/]],
  [
    'warns twice about the former format of enrollment',
    one(everybody, { super_groups: [{ properties: [] }] }),
    [/enrollment/, /super_groups/],
  ],
  ['returns no warning for early exit with one condition', one(everybody, { early_exit: true }), []],
  [
    'warns about early exit with several conditions',
    { filters: { groups: [everybody, everybody], early_exit: true } },
    [/early_exit/],
  ],
  [
    'returns no warning for a condition on the group type of the flag',
    one({ ...everybody, aggregation_group_type_index: 0 }, { aggregation_group_type_index: 0 }),
    [],
  ],
  [
    'warns about a condition on a group type in a flag of persons',
    one({ ...everybody, aggregation_group_type_index: 0 }),
    [/before 1\.12\.5/],
  ],
  [
    'returns no warning for a condition that is explicitly on persons',
    one({ ...everybody, aggregation_group_type_index: null }),
    [],
  ],
  ['warns about not_icontains', one({ properties: [{ ...pro, operator: 'not_icontains' }] }), [/^posthog-php /]],
  [
    'warns about not_in with a cohort',
    one({ properties: [{ key: 'id', type: 'cohort', operator: 'not_in', value: 1 }] }),
    [/`not_in`/],
  ],
  [
    'returns no warning for in with a cohort',
    one({ properties: [{ key: 'id', type: 'cohort', operator: 'in', value: 1 }] }),
    [],
  ],
  [
    'warns about a value with upper case',
    one({ properties: [{ ...pro, value: ['free', 'Pro'] }] }),
    [/^posthog-go up to 1\.23\.1 /],
  ],
  [
    'warns about a number',
    one({ properties: [{ ...pro, operator: 'is_not', value: 5 }] }),
    [/^posthog-go up to 1\.23\.1 /],
  ],
  [
    'warns about a boolean written as text',
    one({ properties: [{ key: 'paid', type: 'person', value: 'true' }] }),
    [/case and type/],
  ],
  [
    'warns about an operator of order',
    one({ properties: [{ ...pro, operator: 'gte', value: '5' }] }),
    [/^posthog-ruby up to 3\.23\.2 .* posthog-rs /],
  ],
  [
    'returns no warning for continuity',
    { ...one({ properties: [pro], rollout_percentage: 30 }), ensure_experience_continuity: true },
    [],
  ],
  ['returns no warning for a flag without filters', { filters: null }, []],
  [
    'returns no warning for malformed filters',
    { filters: { groups: [null, 1, { properties: 'x' }], multivariate: [] } },
    [],
  ],
])('%s', (_name, flag, expected) => {
  const warnings = findSdkWarnings(flag);
  expect(warnings).toHaveLength(expected.length);
  for (const [index, words] of expected.entries()) expect(warnings[index]).toMatch(words);
});
