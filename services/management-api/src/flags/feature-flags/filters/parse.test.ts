import { isAppError } from '@millrace/runtime';
import { parseFlagFilters } from './parse.ts';

const person = (filter: object) => ({ groups: [{ properties: [{ type: 'person', key: 'plan', ...filter }] }] });
const condition = (fields: object) => ({ groups: [{ properties: [], ...fields }] });
const variants = (...shares: number[]) => ({
  groups: [{}],
  multivariate: { variants: shares.map((share, index) => ({ key: `v${index}`, rollout_percentage: share })) },
});

function problemOf(sent: Record<string, unknown>, stored: Record<string, unknown> | null = null) {
  try {
    parseFlagFilters({ sent, stored });
    return null;
  } catch (error) {
    if (!isAppError(error, 'invalid')) throw error;
    expect(error.attr).toBe('filters');
    return [error.code, error.message];
  }
}

const sums = 'Invalid variant definitions: Variant rollout percentages must sum to 100.';
const date = (value: unknown) => person({ operator: 'is_date_before', value });

test.each<[string, Record<string, unknown>, string, string]>([
  ['no groups', {}, 'invalid_input', 'Feature flags must have at least one condition set (group)'],
  ['empty groups', { groups: [] }, 'invalid_input', 'Feature flags must have at least one condition set (group)'],
  ['groups that are not a list', { groups: 'x' }, 'invalid_input', 'groups: must be a list of condition sets, not "x"'],
  ['a group that is not an object', { groups: [1] }, 'invalid_input', 'groups[0]: must be a condition set, not 1'],
  [
    'a version',
    { groups: [{}], version: 2 },
    'reserved_config_version',
    'filters.version is reserved. Remove it from the request.',
  ],
  [
    'a group filter of a person',
    person({ type: 'group', operator: 'exact', value: 'x' }),
    'invalid_input',
    'Filters are not valid (can only use person, cohort, and flag properties)',
  ],
  [
    'a person filter of a group',
    { aggregation_group_type_index: 0, ...person({ operator: 'exact', value: 'x' }) },
    'invalid_input',
    'Filters are not valid (can only use group properties)',
  ],
  [
    'a filter of another group type',
    { aggregation_group_type_index: 0, ...person({ type: 'group', group_type_index: 1, value: 'x' }) },
    'invalid_input',
    'Filters are not valid (can only use group properties)',
  ],
  [
    'a flag with exact',
    person({ type: 'flag', key: '1', operator: 'exact', value: true }),
    'invalid_input',
    "Flag properties must use the 'flag_evaluates_to' operator",
  ],
  [
    'a flag by its key',
    person({ type: 'flag', key: 'other', operator: 'flag_evaluates_to', value: true }),
    'invalid_input',
    "Flag dependencies must reference flag IDs (integers), not flag keys. Invalid reference: 'other'",
  ],
  ['shares under 100', variants(50, 49), 'invalid_input', sums],
  ['shares over 100', variants(50, 51), 'invalid_input', sums],
  [
    'a repeated variant',
    {
      groups: [{}],
      multivariate: {
        variants: [
          { key: 'a', rollout_percentage: 50 },
          { key: 'a', rollout_percentage: 50 },
        ],
      },
    },
    'invalid_input',
    'Variant keys must be unique, duplicated: a.',
  ],
  [
    'an unknown override',
    { ...variants(100), groups: [{ variant: 'x' }] },
    'invalid_input',
    'Filters are not valid (variant override does not exist)',
  ],
  [
    'too many values',
    person({ operator: 'exact', value: Array.from({ length: 1001 }, () => 'x') }),
    'invalid_input',
    'Property group expressions of type plan cannot contain more than 1000 values.',
  ],
  ['an invalid date', date('never'), 'invalid_date', 'Invalid date value: never'],
  ['a number as a date', date(2024), 'invalid_date', 'Invalid date value: 2024'],
  ...(['regex', 'not_regex', 'icontains', 'not_icontains', 'starts_with'] as const).map(
    (operator) =>
      [
        `${operator} of a number`,
        person({ operator, value: 5 }),
        'invalid_value',
        `Invalid value for operator ${operator}: 5. groups[0].properties[0].value must be a string.`,
      ] as [string, Record<string, unknown>, string, string],
  ),
  ...(['gt', 'gte', 'lt', 'lte'] as const).map(
    (operator) =>
      [
        `${operator} of a list`,
        person({ operator, value: [5] }),
        'invalid_value',
        `Invalid value for operator ${operator}: [5]. groups[0].properties[0].value must be a number, or a string that contains a number.`,
      ] as [string, Record<string, unknown>, string, string],
  ),
  ...[2 ** 53, [1, -(2 ** 60)]].map((value): [string, Record<string, unknown>, string, string] => [
    `a number that JSON has rounded: ${JSON.stringify(value)}`,
    person({ operator: 'exact', value }),
    'invalid_value',
    'groups[0].properties[0].value: integers beyond 9007199254740991 lose precision in JSON. Send the number as a string.',
  ]),
  [
    'no value',
    person({ operator: 'exact', value: null }),
    'invalid_value',
    'Invalid value for operator exact: null. groups[0].properties[0].value is required.',
  ],
  ...(['icontains', 'not_icontains', 'starts_with', 'not_ends_with', 'regex', 'icontains_multi'] as const).map(
    (operator) =>
      [
        `${operator} of 1,001 characters`,
        person({ operator, value: operator === 'icontains_multi' ? ['x', 'x'.repeat(1001)] : 'x'.repeat(1001) }),
        'invalid_value',
        'groups[0].properties[0].value: must have at most 1000 characters',
      ] as [string, Record<string, unknown>, string, string],
  ),
  [
    'the operator in for a person property',
    person({ operator: 'in', value: 1 }),
    'invalid_operator',
    "The 'in' operator is only valid for cohort properties, not 'person' properties.",
  ],
  [
    'an unknown operator',
    person({ operator: 'like', value: 'x' }),
    'invalid_operator',
    "The 'like' operator is not valid for 'person' properties.",
  ],
  [
    'a rollout over 100',
    condition({ rollout_percentage: 101 }),
    'invalid_input',
    'groups[0].rollout_percentage: must be a number from 0 to 100, not 101',
  ],
  [
    'a rollout as a string',
    condition({ rollout_percentage: '50' }),
    'invalid_input',
    'groups[0].rollout_percentage: must be a number from 0 to 100, not "50"',
  ],
  [
    'payloads that are not an object',
    { groups: [{}], payloads: [] },
    'invalid_input',
    'Payloads must be passed as a dictionary',
  ],
  [
    'a payload that is not JSON',
    { groups: [{}], payloads: { true: '{' } },
    'invalid_input',
    'Payload value is not valid JSON.',
  ],
  [
    'a payload of an unknown variant',
    { ...variants(100), payloads: { true: '1' } },
    'invalid_input',
    'Payload keys must match a variant key for multivariate flags',
  ],
  [
    'a payload of a variant without variants',
    { groups: [{}], payloads: { a: '1' } },
    'invalid_input',
    "Payload keys must be 'true' for boolean flags",
  ],
  [
    'a megabyte',
    person({ operator: 'exact', value: 'x'.repeat(1_000_000) }),
    'invalid_input',
    'Feature flag filters exceed maximum size of 256 KiB.',
  ],
])('rejects the filters of a flag with %s', (_, sent, code, text) => {
  expect(problemOf(sent)).toEqual([code, text]);
});

test.each([30, -1.5, '30'])('accepts %p as the value of a flag condition, unchanged', (value) => {
  const { groups } = parseFlagFilters({ sent: person({ operator: 'gt', value }), stored: null });
  expect(groups[0]?.properties[0]?.value).toBe(value);
});

test('rejects a new pattern that linear-time engines do not support, but accepts one that is already stored', () => {
  const sent = person({ operator: 'regex', value: '(?=x)' });
  expect(problemOf(sent)).toEqual([
    'invalid_input',
    expect.stringMatching(/^groups\[0\]\.properties\[0\]\.value: invalid regex pattern: ./),
  ]);
  expect(problemOf(person({ operator: 'regex', value: '(a+)+$' }))).toBeNull();
  expect(problemOf({ ...sent, payloads: {} }, sent)).toBeNull();
});

test('normalizes flag filters for storage', () => {
  const sent = {
    groups: [
      { rollout_percentage: 33.3, description: 'kept' },
      { properties: [{ key: 'id', type: 'cohort', operator: 'exact', value: '7', cohort_name: 'Shown only' }] },
      {
        aggregation_group_type_index: 1,
        properties: [{ key: 'age', type: 'group', operator: 'min', value: '3', group_key_names: {} }],
      },
    ],
    payloads: { true: { a: [1] } },
    unknown: [1, 2],
  };
  expect(parseFlagFilters({ sent, stored: null })).toEqual({
    groups: [
      { properties: [], rollout_percentage: 33.3, description: 'kept', aggregation_group_type_index: null },
      {
        properties: [{ key: 'id', type: 'cohort', operator: 'in', value: 7 }],
        aggregation_group_type_index: null,
      },
      {
        properties: [{ key: 'age', type: 'group', operator: 'gte', value: '3', group_type_index: 1 }],
        aggregation_group_type_index: 1,
      },
    ],
    payloads: { true: '{"a":[1]}' },
    unknown: [1, 2],
    aggregation_group_type_index: null,
  });
});

test("sets a flag's group type if all its conditions have the same group type", () => {
  const group = { properties: [{ key: 'x', type: 'group', value: 'y' }] };
  const filters = parseFlagFilters({ sent: { groups: [group, group], aggregation_group_type_index: 2 }, stored: null });
  expect(filters.aggregation_group_type_index).toBe(2);
  expect(filters.groups.map((one) => one.aggregation_group_type_index)).toEqual([2, 2]);
});

test.each([[33.3, 33.3, 33.4], [33.33, 33.33, 33.33], [33.333, 33.333, 33.333], [0, 100], [100]])(
  'flag-085: accepts the variant percentages %p',
  (...shares) => {
    expect(problemOf(variants(...shares))).toBeNull();
  },
);

test('merges sent and stored flag filters by key, and checks the result', () => {
  const stored = { groups: [{ rollout_percentage: 10 }], payloads: { true: '1' }, early_exit: true };
  expect(parseFlagFilters({ sent: { payloads: { true: 2 } }, stored })).toMatchObject({
    groups: [{ rollout_percentage: 10 }],
    payloads: { true: '2' },
    early_exit: true,
  });
  expect(problemOf({ multivariate: variants(100).multivariate }, stored)).toEqual([
    'invalid_input',
    'Payload keys must match a variant key for multivariate flags',
  ]);
  expect(problemOf({ groups: [] }, stored)).toBeNull();
});

test('does not compile a pattern again that was already compiled', () => {
  const sent = person({ operator: 'regex', value: '^a+$' });
  const tried = new Map([['^a+$', 'was refused']]);
  expect(() => parseFlagFilters({ sent, stored: null, tried })).toThrow('was refused');
});
