import { sdkWarnings } from './sdk-warnings.ts';

const everybody = { properties: [], rollout_percentage: 100 };
const pro = { key: 'plan', type: 'person', operator: 'exact', value: ['pro'] };
const one = (condition: object, filters: object = {}) => ({ filters: { groups: [condition], ...filters } });
const variants = (...parts: number[]) => ({
  multivariate: { variants: parts.map((part, n) => ({ key: `v${n}`, rollout_percentage: part })) },
});

test.each<[string, Parameters<typeof sdkWarnings>[0], RegExp[]]>([
  ['everybody', one(everybody), []],
  ['a rollout without filters', one({ properties: [], rollout_percentage: 30 }), []],
  ['filters without a rollout', one({ properties: [pro] }), []],
  ['filters with a rollout of 100', one({ properties: [pro], rollout_percentage: 100 }), []],
  ['filters with a rollout', one({ properties: [pro], rollout_percentage: 30 }), [/^posthog-go before 1\.5\.6 /]],
  ['filters with a rollout of 0', one({ properties: [pro], rollout_percentage: 0 }), [/^posthog-go before 1\.5\.6 /]],
  ['a fraction', one({ properties: [], rollout_percentage: 55.5 }), [/^posthog-go before 1\.5\.7 /]],
  ['a fraction of a variant', one(everybody, variants(33.3, 66.7)), [/^posthog-go before 1\.5\.7 /]],
  ['whole variants', one(everybody, variants(50, 50)), []],
  ['both', one({ properties: [pro], rollout_percentage: 0.5 }), [/1\.5\.6/, /1\.5\.7/]],
  ['devices', { ...one(everybody), bucketing_identifier: 'device_id' }, [/hash the distinct ID/]],
  ['a holdout', one(everybody, { holdout: { id: 1, exclusion_percentage: 10 } }), [/holdouts/]],
  ['enrolment', one(everybody, { feature_enrollment: true }), [/enrollment/]],
  ['enrolment of old', one(everybody, { super_groups: [{ properties: [] }] }), [/enrollment/, /super_groups/]],
  ['early exit, one condition', one(everybody, { early_exit: true }), []],
  ['early exit', { filters: { groups: [everybody, everybody], early_exit: true } }, [/early_exit/]],
  [
    'a group as the flag',
    one({ ...everybody, aggregation_group_type_index: 0 }, { aggregation_group_type_index: 0 }),
    [],
  ],
  ['a group of its own', one({ ...everybody, aggregation_group_type_index: 0 }), [/before 1\.12\.5/]],
  ['persons, said', one({ ...everybody, aggregation_group_type_index: null }), []],
  ['not_icontains', one({ properties: [{ ...pro, operator: 'not_icontains' }] }), [/^posthog-php /]],
  ['not in a cohort', one({ properties: [{ key: 'id', type: 'cohort', operator: 'not_in', value: 1 }] }), [/`not_in`/]],
  ['in a cohort', one({ properties: [{ key: 'id', type: 'cohort', operator: 'in', value: 1 }] }), []],
  [
    'a value with upper case',
    one({ properties: [{ ...pro, value: ['free', 'Pro'] }] }),
    [/^posthog-go up to 1\.23\.1 /],
  ],
  ['a number', one({ properties: [{ ...pro, operator: 'is_not', value: 5 }] }), [/^posthog-go up to 1\.23\.1 /]],
  ['a boolean as a text', one({ properties: [{ key: 'paid', type: 'person', value: 'true' }] }), [/case and type/]],
  [
    'an ordering',
    one({ properties: [{ ...pro, operator: 'gte', value: '5' }] }),
    [/^posthog-ruby up to 3\.23\.2 .* posthog-rs /],
  ],
  ['continuity', { ...one({ properties: [pro], rollout_percentage: 30 }), ensure_experience_continuity: true }, []],
  ['no filters', { filters: null }, []],
  ['odd filters', { filters: { groups: [null, 1, { properties: 'x' }], multivariate: [] } }, []],
])('%s', (_name, flag, expected) => {
  const warnings = sdkWarnings(flag);
  expect(warnings).toHaveLength(expected.length);
  for (const [index, words] of expected.entries()) expect(warnings[index]).toMatch(words);
});
