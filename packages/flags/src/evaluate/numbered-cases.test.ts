import { compileFlags, evaluateFlags, nothingStored, selectFlags } from '../index.ts';
import { type EvaluationInput, evaluate, flag, idOf, matches } from '../testing/ask-flag.ts';
import { computeBucketHash } from './bucketing.ts';

/** Numbered cases of flag evaluation. The numbered cases about requests, stores and routes are in other test files. */
const person = (key: string, operator: string, value?: unknown) => ({ key, type: 'person', operator, value });
const onFlag = (key: string, value: unknown) => ({
  key: String(idOf(key)),
  type: 'flag',
  operator: 'flag_evaluates_to',
  value,
});
const inCohort = (value: number, operator = 'in') => ({ key: 'id', type: 'cohort', operator, value });
const thirds = { multivariate: { variants: variants({ a: 33.3, b: 33.3, c: 33.4 }) } };
const halves = { multivariate: { variants: variants({ one: 50, Two: 50 }) } };

function variants(shares: Record<string, number>) {
  return Object.entries(shares).map(([key, rollout_percentage]) => ({ key, rollout_percentage }));
}

test.each([
  ['flag-001', 'beta-search-rollout.', 'user-61', '', 0.0042305989144046955],
  ['flag-002', 'checkout-layout.', 'user-61', 'variant', 0.5698252224547713],
  ['flag-003', 'holdout-', '', '', 0.9268829483920294],
])('%s: computes the hash of the prefix "%s", the ID "%s" and the salt "%s"', (_case, prefix, id, salt, expected) => {
  expect(computeBucketHash(prefix, id, salt)).toBe(expected);
});

const enterprise = { properties: [person('plan', 'exact', 'enterprise')], rollout_percentage: 100 };
const tenPercent = { properties: [], rollout_percentage: 10 };
/** An ID that is outside of the first tenth of the hash range for the flag `split`. */
const outside = String(
  Array.from({ length: 50 }, (_, n) => `user-${n}`).find((id) => computeBucketHash('split.', id) > 0.1),
);
const early = (plan: string, groups: unknown[], filters = {}): EvaluationInput => ({
  flags: [flag('split', { groups, filters })],
  request: { distinctId: outside, personProperties: { plan } },
});
const rollout = (percentage: number | null | undefined, distinctId: string): EvaluationInput => ({
  flags: [flag('beta-search-rollout', { groups: [{ properties: [], rollout_percentage: percentage }] })],
  request: { distinctId },
});
const company = { aggregation_group_type_index: 0 };
const holdout = (percentage: number) => ({ holdout: { id: 7, exclusion_percentage: percentage } });

/** `[number, title, flags and request, flag key, value, reason]` */
const rows: [number: string, what: string, input: EvaluationInput, key: string, value: unknown, why: string][] = [
  [
    'flag-004',
    'matches an ID within the rollout of 25.5 %',
    rollout(25.5, 'user-61'),
    'beta-search-rollout',
    true,
    'condition_match:0',
  ],
  [
    'flag-004',
    'does not match an ID outside the rollout of 25.5 %',
    rollout(25.5, 'user-105'),
    'beta-search-rollout',
    false,
    'out_of_rollout_bound:0',
  ],
  [
    'flag-005',
    'a rollout of null matches everyone',
    rollout(null, 'user-105'),
    'beta-search-rollout',
    true,
    'condition_match:0',
  ],
  [
    'flag-005',
    'a missing rollout matches everyone',
    rollout(undefined, 'user-105'),
    'beta-search-rollout',
    true,
    'condition_match:0',
  ],
  [
    'flag-006',
    'the empty ID is within a rollout of 0 %',
    rollout(0, ''),
    'beta-search-rollout',
    true,
    'condition_match:0',
  ],
  [
    'flag-007',
    'the empty ID has the first variant',
    { flags: [flag('f', { groups: [{}], filters: halves })], request: { distinctId: '' } },
    'f',
    'one',
    'condition_match:0',
  ],
  [
    'flag-008',
    'the empty ID is hashed for holdouts, and is outside 92 %',
    { flags: [flag('f', { groups: [{}], filters: holdout(92) })], request: { distinctId: '' } },
    'f',
    true,
    'condition_match:0',
  ],
  [
    'flag-008',
    'the empty ID is hashed for holdouts, and is within 93 %',
    { flags: [flag('f', { groups: [{}], filters: holdout(93) })], request: { distinctId: '' } },
    'f',
    'holdout-7',
    'holdout_condition_value:null',
  ],
  [
    'flag-009',
    'a later condition can match',
    early('enterprise', [tenPercent, enterprise]),
    'split',
    true,
    'condition_match:1',
  ],
  [
    'flag-010',
    'the reason names the rollout rather than filters',
    early('free', [tenPercent, enterprise]),
    'split',
    false,
    'out_of_rollout_bound:0',
  ],
  [
    'flag-011',
    'the reason names the rollout in any order of conditions',
    early('free', [enterprise, tenPercent]),
    'split',
    false,
    'out_of_rollout_bound:1',
  ],
  [
    'flag-012',
    'with early exit, the first failed rollout decides',
    early('enterprise', [tenPercent, enterprise], { early_exit: true }),
    'split',
    false,
    'out_of_rollout_bound:0',
  ],
  [
    'flag-013',
    'of two conditions without a match, the reason names the later one',
    early('free', [enterprise, enterprise]),
    'split',
    false,
    'no_condition_match:1',
  ],
  ['flag-014', 'a flag without conditions never matches', early('free', []), 'split', false, 'no_group_type:null'],
  [
    'flag-015',
    'ignores an override by an undeclared variant',
    {
      flags: [
        flag('f', { groups: [{ variant: 'wide' }], filters: { multivariate: { variants: variants({ only: 100 }) } } }),
      ],
    },
    'f',
    'only',
    'condition_match:0',
  ],
  [
    'flag-018',
    'a group flag never matches without groups',
    { flags: [flag('f', { groups: [{}], filters: company })] },
    'f',
    false,
    'no_group_type:0',
  ],
  [
    'flag-020',
    'an empty group key counts as none',
    { flags: [flag('f', { groups: [{}], filters: company })], request: { groups: { company: '' } } },
    'f',
    false,
    'no_group_type:0',
  ],
  [
    'flag-021',
    'the reason names the failed person condition after a skipped group condition',
    {
      flags: [
        flag('f', {
          groups: [
            { ...company, properties: [] },
            { properties: [person('plan', 'exact', 'x')], aggregation_group_type_index: null },
          ],
        }),
      ],
    },
    'f',
    false,
    'no_condition_match:1',
  ],
  [
    'flag-022',
    '$group_key is the key in the request',
    {
      flags: [
        flag('f', {
          groups: [{ properties: [{ key: '$group_key', type: 'group', operator: 'exact', value: 'acme' }] }],
          filters: company,
        }),
      ],
      request: { groups: { company: 'acme' }, groupProperties: { company: { $group_key: 'other' } } },
    },
    'f',
    true,
    'condition_match:0',
  ],
  ...(
    [
      [
        'flag-023',
        'properties in the request override stored ones',
        ['plan', 'pro'],
        { plan: 'pro' },
        { plan: 'free' },
        true,
      ],
      ['flag-024', 'the distinct ID of an unknown person is a property', ['distinct_id', 'user-1'], {}, {}, true],
      [
        'flag-025',
        'a missing initial property has the current value',
        ['$initial_browser', 'Chrome'],
        { $browser: 'Chrome' },
        {},
        true,
      ],
      [
        'flag-026',
        'a stored initial property is not replaced by the current value',
        ['$initial_browser', 'Chrome'],
        { $browser: 'Chrome' },
        { $initial_browser: 'Safari' },
        false,
      ],
    ] as const
  ).map(([number, what, [key, value], personProperties, stored, expected]): (typeof rows)[number] => [
    number,
    what,
    {
      flags: [flag('f', { groups: [{ properties: [person(key, 'exact', value)] }] })],
      request: { personProperties },
      stored: { personProperties: stored },
    },
    'f',
    expected,
    expected ? 'condition_match:0' : 'no_condition_match:0',
  ]),
];

test.each(rows)('%s: %s', (_number, _what, input, key, value, why) => {
  const { results } = evaluate(input);
  expect(results[key]).toMatchObject({ value, why });
});

test('flag-016: returns true and the payload of true for IDs outside of all variants', () => {
  const filters = { multivariate: { variants: variants({ a: 50, b: 25 }) }, payloads: { true: '"rest"', a: '"a"' } };
  const inRest = Array.from({ length: 200 }, (_, n) => `user-${n}`).find(
    (id) => computeBucketHash('f.', id, 'variant') > 0.9,
  );
  const { results } = evaluate({
    flags: [flag('f', { groups: [{}], filters })],
    request: { distinctId: String(inRest) },
  });
  expect(results.f).toMatchObject({ value: true, payload: '"rest"' });
});

test('flag-017: includes an ID whose hash equals the rollout percentage, and excludes it at a slightly lower percentage', () => {
  const position = computeBucketHash('beta-search-rollout.', 'user-105');
  const exact = position * 100;
  const bounds = [exact, exact * (1 + Number.EPSILON), exact * (1 - Number.EPSILON)].filter(
    (p) => p / 100 === position,
  );
  const below = [1, 2, 3].map((n) => exact * (1 - n * Number.EPSILON)).find((p) => p / 100 < position);
  expect(bounds.length).toBeGreaterThan(0);
  expect(evaluate(rollout(bounds[0], 'user-105')).results['beta-search-rollout']?.value).toBe(true);
  expect(evaluate(rollout(below, 'user-105')).results['beta-search-rollout']?.value).toBe(false);
});

test('flag-019: hashes a numeric group key as a string', () => {
  const groups = [{ properties: [], rollout_percentage: computeBucketHash('f.', '42') * 100 + 1e-9 }];
  const input = { flags: [flag('f', { groups, filters: company })] };
  const evaluateWith = (key: unknown) => evaluate({ ...input, request: { groups: { company: key } } }).results.f;
  expect(evaluateWith(42)).toEqual(evaluateWith('42'));
  expect(evaluateWith(42)?.value).toBe(true);
});

test('flag-021: mentions in the reason that group conditions were not evaluated', () => {
  const [, , input] = rows.find(([number]) => number === 'flag-021') ?? [];
  expect(evaluate(input as EvaluationInput).results.f?.description).toBe(
    'No matching condition set (group conditions were not evaluated because no group type was provided)',
  );
});

const v2 = { definitions: { matchingVersion: 2 as const } };
test.each<[string, string, unknown, Record<string, unknown>, boolean, Parameters<typeof matches>[3]?]>([
  ['flag-027', 'exact', 'false', { p: 'banana' }, true],
  ['flag-027', 'exact', 'false', { p: 'banana' }, false, v2],
  ['flag-028', 'exact', ['true', 'false'], { p: 'x' }, true],
  ['flag-028', 'exact', ['true', 'false'], { p: 'x' }, false, v2],
  ['flag-029', 'exact', [], { p: true }, true],
  ['flag-029', 'exact', [], { p: 'x' }, false],
  ['flag-030', 'exact', '5', { p: 5 }, true],
  ['flag-030', 'exact', 5, { p: '5' }, true],
  ['flag-031', 'exact', 'null', { p: null }, true],
  ['flag-031', 'is_not', 'x', { p: null }, true],
  ['flag-031', 'icontains', 'ul', { p: null }, true],
  ...(['exact', 'icontains', 'gt', 'regex', 'is_date_before', 'semver_neq'] as const).map(
    (operator): [string, string, unknown, Record<string, unknown>, boolean] => ['flag-032', operator, '1', {}, false],
  ),
  ['flag-033', 'is_not', 'x', {}, true],
  ['flag-033', 'not_icontains', 'x', {}, true],
  ['flag-033', 'not_regex', 'x', {}, true],
  ['flag-033', 'not_starts_with', 'x', {}, true],
  ['flag-033', 'not_between', [1, 2], {}, true],
  ['flag-033', 'is_not_set', undefined, {}, true],
  ['flag-034', 'regex', '(', { p: 'x' }, false],
  ['flag-034', 'not_regex', '(', { p: 'x' }, false],
  ['flag-035', 'regex', '^a.*z$', { p: 'az\n' }, false],
  ['flag-036', 'gt', '5', { p: ' 6' }, false],
  ['flag-036', 'gt', '5', { p: '6' }, true],
  ['flag-036', 'gt', '5', { p: '1e1' }, true],
  ['flag-036', 'gt', '5', { p: 'abc' }, false],
  ['flag-036', 'gt', '5', { p: true }, false],
  ['flag-037', 'is_date_after', '-7d', { p: '2026-01-08T12:00:00Z' }, false],
  ['flag-037', 'is_date_after', '7d', { p: '2026-01-08T12:00:01Z' }, true],
  ['flag-038', 'is_date_before', '2024-06-01', { p: '2024-05-31T23:30:00-05:00' }, false],
  [
    'flag-039',
    'is_date_before',
    '2024-06-01',
    { p: '2024-06-01T02:00:00Z' },
    true,
    { definitions: { timeZone: 'America/New_York' } },
  ],
  ['flag-040', 'is_date_before', '2024-06-01', { p: 1717236000 }, false],
  ['flag-041', 'is_date_exact', '1m', { p: '2024-02-29T12:00:00Z' }, true, { now: Date.UTC(2024, 2, 31, 12) }],
  ['flag-041', 'is_date_exact', '1m', { p: '2023-02-28T12:00:00Z' }, true, { now: Date.UTC(2023, 2, 31, 12) }],
  ['flag-041', 'is_date_exact', '2m', { p: '2024-01-29T12:00:00Z' }, true, { now: Date.UTC(2024, 2, 31, 12) }],
  ['flag-042', 'semver_gt', '1.2.3-alpha', { p: '1.2.3' }, true],
  ['flag-042', 'semver_gt', '1.2.3-rc.2', { p: '1.2.3-rc.3' }, true],
  ['flag-042', 'semver_gt', '1.2.3-rc.2', { p: '1.2.3-rc.1' }, false],
  ['flag-042', 'semver_gt', '1.2.3-rc.9', { p: '1.2.3-rc.10' }, true],
  ['flag-043', 'semver_eq', '1.2.3', { p: 'v1.02.3' }, true],
  ['flag-044', 'semver_wildcard', '1.*', { p: '1.9.0-rc1' }, false],
  ['flag-045', 'semver_caret', '0.0.3', { p: '0.0.4' }, false],
])('%s: %s %j on %j is %s', (...[, operator, expected, properties, outcome, options]) => {
  expect(matches(operator, expected, properties, options)).toBe(outcome);
});

describe('flags that depend on other flags', () => {
  const on = (key: string, value: unknown) => ({ groups: [{ properties: [onFlag(key, value)] }] });
  const twoForAll = flag('multi', { groups: [{ variant: 'Two' }], filters: halves });

  test('flag-046, flag-047, flag-048: true matches any variant, a string only that variant, and false an inactive flag', () => {
    const { results, hasErrors } = evaluate({
      flags: [
        twoForAll,
        flag('off', { groups: [{}], active: false }),
        flag('any', on('multi', true)),
        flag('exact', on('multi', 'two')),
        flag('not-on', on('off', false)),
      ],
    });
    expect([results.any?.value, results.exact?.value, results['not-on']?.value]).toEqual([true, false, true]);
    expect(hasErrors).toBe(false);
    // flag-052
    expect(results).not.toHaveProperty('off');
  });

  test('flag-049, flag-051: if a flag is missing, fails only the flags that depend on it', () => {
    const { results, hasErrors } = evaluate({
      flags: [flag('a', on('nowhere', true)), flag('b', on('a', false)), flag('c', { groups: [{}] })],
    });
    expect([results.a?.why, results.b?.why, results.c?.value]).toEqual([
      'missing_dependency:null',
      'missing_dependency:null',
      true,
    ]);
    expect(hasErrors).toBe(false);
  });

  test('flag-050: reports a missing dependency and an error for flags in a dependency cycle', () => {
    const { results, hasErrors } = evaluate({
      flags: [flag('a', on('b', true)), flag('b', on('a', true)), flag('self', on('self', true))],
    });
    expect([results.a?.why, results.b?.why, results.self?.why]).toEqual(Array(3).fill('missing_dependency:null'));
    expect(hasErrors).toBe(true);
  });

  test('flag-069: also evaluates the dependencies of a single requested flag', () => {
    const flags = [
      flag('last', on('middle', true)),
      flag('middle', on('first', true)),
      flag('first', { groups: [{}] }),
    ];
    expect(evaluate({ flags, selection: { keys: ['last'] } }).results.last?.value).toBe(true);
  });

  test("treats a dependency that the request's runtime excludes as off", () => {
    const server = flag('server', { groups: [{}], evaluation_runtime: 'server' });
    const { results } = evaluate({ flags: [server, flag('f', on('server', false))], selection: { runtime: 'client' } });
    expect(results).toMatchObject({ f: { value: true } });
    expect(results).not.toHaveProperty('server');
  });

  test('a dependency that could not be evaluated matches neither on nor off', () => {
    const broken = flag('broken', { groups: [{ properties: [inCohort(404)] }] });
    const { results } = evaluate({ flags: [broken, flag('on', on('broken', true)), flag('off', on('broken', false))] });
    expect([results.broken?.why, results.on?.value, results.off?.value]).toEqual([
      'failed:dependency_not_found_cohort',
      false,
      false,
    ]);
  });
});

describe('holdouts and early access', () => {
  const held = (percentage: number, distinctId: string) =>
    evaluate({
      flags: [flag('f', { groups: [{}], filters: { ...halves, ...holdout(percentage) } })],
      request: { distinctId },
    }).results.f?.value;

  test('flag-053, flag-054: a holdout includes its share of users, no one at 0 %, and everyone above 100 %', () => {
    expect([held(10, 'user-31'), held(250, 'user-77'), held(0, 'user-31')]).toEqual([
      'holdout-7',
      'holdout-7',
      expect.not.stringContaining('holdout'),
    ]);
    expect(['one', 'Two']).toContain(held(10, 'user-77'));
  });

  const enrolled = (property: unknown, filters: object) =>
    evaluate({
      flags: [flag('f', { groups: [{ rollout_percentage: 0 }], filters: { payloads: { true: '1' }, ...filters } })],
      request: { personProperties: property === undefined ? {} : { '$feature_enrollment/f': property } },
    }).results.f;
  const current = { feature_enrollment: true };
  const former = {
    super_groups: [{ properties: [person('$feature_enrollment/f', 'exact', ['true'])], rollout_percentage: 100 }],
  };

  test.each([
    ['flag-055', 'false', current, { value: false, why: 'super_condition_value:0', payload: '1' }],
    ['flag-055', true, current, { value: true, why: 'super_condition_value:0', payload: '1' }],
    ['flag-056', undefined, current, { value: false, why: 'out_of_rollout_bound:0' }],
    ['flag-057', 'True', former, { value: true, why: 'super_condition_value:0' }],
    ['flag-057', 'no', former, { value: false, why: 'super_condition_value:0' }],
    ['flag-057', undefined, former, { value: false, why: 'out_of_rollout_bound:0' }],
  ])('%s: evaluates an early access flag with the enrollment %j', (_number, property, filters, expected) => {
    expect(enrolled(property, filters)).toMatchObject(expected);
  });
});

describe('selection of the ID to hash', () => {
  const half = { groups: [{ properties: [], rollout_percentage: 50 }] };
  /** An ID whose hash for the flag `f` is in the lower half, and one whose hash is in the upper half. */
  const ids = Array.from({ length: 100 }, (_, n) => `id-${n}`);
  const inside = String(ids.find((id) => computeBucketHash('f.', id) < 0.5));
  const beyond = String(ids.find((id) => computeBucketHash('f.', id) > 0.5));

  test('flag-058, flag-059: hashes only the device ID if the flag uses device bucketing', () => {
    const device = flag('f', { ...half, bucketing_identifier: 'device_id' });
    const evaluateWith = (request: EvaluationInput['request']) => evaluate({ flags: [device], request }).results.f;
    expect(evaluateWith({ distinctId: inside })).toMatchObject({ value: false, why: 'out_of_rollout_bound:0' });
    expect(evaluateWith({ distinctId: inside, deviceId: beyond })?.value).toBe(false);
    expect(evaluateWith({ distinctId: beyond, deviceId: inside })?.value).toBe(true);
  });

  test('flag-060, flag-061, flag-062, flag-063: with continuity, hashes the stored ID or else the ID before login', () => {
    const keeping = flag('f', { ...half, ensure_experience_continuity: true });
    const evaluateWith = (request: EvaluationInput['request'], stored?: string) =>
      evaluate({
        flags: [keeping],
        request: { distinctId: beyond, ...request },
        stored: { hashKeyOverrides: new Map(stored === undefined ? [] : [['f', stored]]) },
      }).results.f?.value;
    expect([
      evaluateWith({}),
      evaluateWith({ anonymousDistinctId: inside }),
      evaluateWith({}, inside),
      evaluateWith({ anonymousDistinctId: beyond }, inside),
    ]).toEqual([false, true, true, true]);
  });

  test('flag-064: if stored IDs cannot be loaded, fails a flag with continuity unless everyone gets the same value', () => {
    const { results, hasErrors } = evaluate({
      flags: [
        flag('f', { ...half, ensure_experience_continuity: true }),
        flag('all', { groups: [{}], ensure_experience_continuity: true }),
        flag('other', { groups: [{}] }),
      ],
      stored: { hashKeyOverrides: 'unavailable' },
    });
    expect([results.f?.why, results.all?.value, results.other?.value]).toEqual([
      'failed:hash_key_override_error',
      true,
      true,
    ]);
    expect(hasErrors).toBe(true);
  });
});

describe('cohorts', () => {
  const leaf = (key: string, value: unknown, negation = false) => ({ ...person(key, 'exact', value), negation });
  const tree = (type: 'AND' | 'OR', ...values: unknown[]) => ({ type, values });
  const evaluateWith = (
    filter: object,
    cohorts: EvaluationInput['cohorts'] = [],
    { properties = {}, ...others }: Partial<EvaluationInput> & { properties?: Record<string, unknown> } = {},
  ) =>
    evaluate({
      flags: [flag('f', { groups: [{ properties: [filter] }] }), flag('other', { groups: [{}] })],
      cohorts,
      request: { personProperties: properties },
      ...others,
    });
  const dynamic = (id: number, filters: unknown) => ({ id, isStatic: false, tree: filters });

  test('flag-065: if a cohort was deleted, fails only the flag that uses it', () => {
    const { results, hasErrors } = evaluateWith(inCohort(9));
    expect(results).toMatchObject({ f: { why: 'failed:dependency_not_found_cohort' }, other: { value: true } });
    expect(hasErrors).toBe(true);
  });

  test('flag-066: treats an unknown person as not being in a static cohort', () => {
    const cohorts = [{ id: 9, isStatic: true, tree: null }];
    expect(evaluateWith(inCohort(9, 'not_in'), cohorts).results.f?.value).toBe(true);
    expect(evaluateWith(inCohort(9), cohorts, { stored: { staticCohorts: new Set([9]) } }).results.f?.value).toBe(true);
    expect(evaluateWith(inCohort(9), cohorts, { stored: { staticCohorts: 'unavailable' } }).results.f?.why).toBe(
      'failed:database_error',
    );
  });

  test('flag-067: a negated filter in a cohort matches if the property is missing', () => {
    expect(evaluateWith(inCohort(9), [dynamic(9, tree('AND', leaf('banned', 'x', true)))]).results.f?.value).toBe(true);
  });

  test('flag-068: evaluates cohorts with nested AND and OR, and cohorts that refer to other cohorts', () => {
    const cohorts = [
      dynamic(9, tree('AND', tree('OR', leaf('a', '1'), leaf('b', '1')), tree('OR', leaf('c', '1'), leaf('d', '1')))),
      dynamic(10, tree('OR', { type: 'cohort', key: 'id', value: 9, negation: true })),
    ];
    const member = (id: number, properties: Record<string, unknown>) =>
      evaluateWith(inCohort(id), cohorts, { properties }).results.f?.value;
    expect([
      member(9, { a: 1, d: 1 }),
      member(9, { a: 1, b: 1 }),
      member(10, { a: 1 }),
      member(10, { b: 1, c: 1 }),
    ]).toEqual([true, false, true, false]);
  });

  test.each([
    ['a cycle of cohorts', [10], 'dependency_cycle_cohort'],
    ['a cohort that refers to a missing one', [11], 'dependency_not_found_cohort'],
  ])('fails the flag for %s', (_what, [id], failure) => {
    const cohorts = [
      dynamic(9, tree('OR', { type: 'cohort', value: 10 })),
      dynamic(10, tree('OR', { type: 'cohort', value: 9 })),
      dynamic(11, tree('OR', leaf('a', '1'), { type: 'cohort', value: 404 })),
    ];
    expect(evaluateWith(inCohort(Number(id)), cohorts).results.f?.why).toBe(`failed:${failure}`);
  });

  test.each([
    ['{}', {}],
    ['no values', tree('AND')],
    ['behavior', tree('OR', { type: 'behavioral', key: 'x' })],
    ['null', null],
  ])('finds no members in a cohort of %s', (_what, filters) => {
    expect(evaluateWith(inCohort(9), [dynamic(9, filters)]).results.f).toMatchObject({
      value: false,
      why: 'no_condition_match:0',
    });
  });
});

describe('evaluation without stored properties', () => {
  const needsPlan = { groups: [{ properties: [person('plan', 'exact', 'pro')] }] };

  test('if stored properties cannot be loaded, fails only the flags whose filters need them', () => {
    const { results, hasErrors } = evaluate({
      flags: [
        flag('needs-more', { groups: [{ properties: [person('age', 'gt', '3')] }] }),
        flag('answered', needsPlan),
        flag('no-filters', { groups: [{}] }),
        flag('first-value', { groups: [{ properties: [person('$initial_browser', 'exact', 'Chrome')] }] }),
      ],
      request: { personProperties: { plan: 'pro', $browser: 'Chrome' } },
      stored: { personProperties: 'unavailable' },
    });
    expect(results).toMatchObject({
      'needs-more': { why: 'failed:database_error' },
      answered: { value: true },
      'no-filters': { value: true },
      'first-value': { why: 'failed:database_error' },
    });
    expect(hasErrors).toBe(true);
  });
});

test('flag-085: with shares of 33.3, 33.3 and 33.4, assigns everyone a variant', () => {
  const values = Array.from({ length: 500 }, (_, n) => {
    const input = { flags: [flag('f', { groups: [{}], filters: thirds })], request: { distinctId: `user-${n}` } };
    return evaluate(input).results.f?.value;
  });
  expect(new Set(values)).toEqual(new Set(['a', 'b', 'c']));
});

test('flag-089: uses the separate rollout percentage of an old flag that has no condition sets', () => {
  const legacy = { id: 1, key: 'beta-search-rollout', active: true, filters: {}, rollout_percentage: 25.5 };
  const evaluateWith = (distinctId: string) =>
    evaluate({ flags: [legacy], request: { distinctId } }).results[legacy.key];
  expect([evaluateWith('user-61')?.value, evaluateWith('user-105')?.value]).toEqual([true, false]);
});

test('flag-090: evaluates patterns quickly that take other engines very long', () => {
  const patterns = ['(a+)+$', '(a|aa)+$', '(.*)*x', '((a*)*)*b', '^(([a-z])+.)+[A-Z]([a-z])+$'];
  const flags = compileFlags({
    flags: patterns.map((pattern, n) => flag(`f${n}`, { groups: [{ properties: [person('p', 'regex', pattern)] }] })),
    cohorts: [],
    groupTypes: {},
    timeZone: 'UTC',
    matchingVersion: 1,
  });
  const context = {
    distinctId: 'user-1',
    groups: {},
    personProperties: { p: `${'a'.repeat(60)}!` },
    groupProperties: {},
    stored: nothingStored,
    now: 0,
  };
  for (let round = 0; round < 200; round += 1) {
    const { results } = evaluateFlags(flags, selectFlags(flags, {}), context);
    expect(results.some(({ enabled }) => enabled)).toBe(false);
  }
});
