import fc from 'fast-check';
import { createPropertyValues, type Found, missing, unavailable } from '../evaluate/property-values.ts';
import {
  compileFlags,
  createExplainer,
  type EvaluationContext,
  evaluateFlags,
  nothingStored,
  selectFlags,
} from '../index.ts';
import { caseContext, caseFile, caseFlags } from '../testing/load-cases.ts';
import { findGroupPropertySource, findPersonPropertySource } from './explain-flag.ts';

function explain(filters: unknown, context: Partial<EvaluationContext>) {
  const flags = compileFlags({
    flags: [{ id: 1, key: 'flag', active: true, filters }],
    cohorts: [{ id: 5, isStatic: true, tree: null }],
    groupTypes: { 0: 'company' },
    timeZone: 'UTC',
    matchingVersion: 1,
  });
  const whole: EvaluationContext = {
    distinctId: 'user-61',
    groups: {},
    personProperties: {},
    groupProperties: {},
    stored: nothingStored,
    now: 0,
    ...context,
  };
  const selected = selectFlags(flags, {});
  const [flag] = selected;
  if (!flag) throw new Error('The flag was not compiled.');
  return createExplainer(flags, { context: whole, ...evaluateFlags(flags, selected, whole) })(flag);
}

test('explains every filter of every condition with the source of its property value, and lists the hashes', () => {
  const person = (key: string, value: unknown) => ({ key, type: 'person', operator: 'exact', value });
  const filters = {
    groups: [
      {
        properties: [
          person('plan', 'pro'),
          person('$initial_browser', 'Chrome'),
          person('distinct_id', 'user-61'),
          person('age', 1),
          { key: 'id', type: 'cohort', operator: 'in', value: 5 },
        ],
      },
      { rollout_percentage: 30 },
    ],
    multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
  };
  const explanation = explain(filters, {
    personProperties: { $browser: 'Chrome' },
    stored: { ...nothingStored, personProperties: { plan: 'free' } },
  });
  expect(explanation.conditions).toMatchObject([
    {
      outcome: 'no_condition_match',
      filters: [
        { about: 'person', key: 'plan', source: 'stored', outcome: false },
        { about: 'person', key: '$initial_browser', source: 'request', property: '$browser', outcome: true },
        { about: 'person', key: 'distinct_id', source: 'distinct_id', outcome: true },
        { about: 'person', key: 'age', source: 'missing', outcome: false },
        { about: 'cohort', id: 5, outcome: false },
      ],
    },
    { filters: [], rollout: { percentage: 30, hash: expect.any(Number) } },
  ]);
  expect(explanation).toMatchObject({ hashed: 'distinct_id', holdout: null, variantHash: expect.any(Number) });
});

test('if the request does not contain the group, returns no hash for the condition and the holdout', () => {
  const explanation = explain(
    { aggregation_group_type_index: 0, groups: [{}], holdout: { id: 7, exclusion_percentage: 10 } },
    {},
  );
  expect(explanation).toMatchObject({
    hashed: 'group',
    holdout: { percentage: 10, hash: null, isHeldOut: false },
    conditions: [{ outcome: 'no_group_type', rollout: { hash: null } }],
  });
});

test('for every shared case, names the same first matching condition as the evaluation result', () => {
  for (const [document, , key, distinctId, sent, , expected] of caseFile.cases) {
    const flags = caseFlags[document];
    const flag = flags?.byKey.get(key);
    if (!flags || !flag) continue;
    const context = caseContext(distinctId, sent);
    const evaluated = evaluateFlags(flags, selectFlags(flags, { keys: [key] }), context);
    const { conditions } = createExplainer(flags, { context, ...evaluated })(flag);
    const matched = conditions.findIndex(({ outcome }) => outcome === 'match');
    if (expected.startsWith('condition_match'))
      expect([key, distinctId, `condition_match:${matched}`]).toEqual([key, distinctId, expected]);
  }
});

test('the source that the explanation names contains the value that the evaluation uses', () => {
  const keys = fc.constantFrom('plan', '$browser', '$initial_browser', 'distinct_id', '$group_key', '__proto__');
  const properties = fc.dictionary(keys, fc.integer(), { noNullPrototype: true });
  const stored = fc.oneof(properties, fc.constant('unavailable' as const));
  fc.assert(
    fc.property(keys, properties, stored, properties, fc.boolean(), (key, sent, person, group, isNamed) => {
      const groupProperties = person === 'unavailable' ? person : new Map([[0, person]]);
      const context: EvaluationContext = {
        distinctId: 'd',
        groups: isNamed ? { company: 'acme' } : {},
        personProperties: sent,
        groupProperties: { company: group },
        stored: { ...nothingStored, personProperties: person, groupProperties },
        now: 0,
      };
      const values = createPropertyValues({ groupTypes: new Map([[0, 'company']]) }, context);
      const read = (place: string, property: string, from: Record<string, unknown>) => {
        const places: Record<string, unknown> = {
          request: from[property],
          stored: person === 'unavailable' ? undefined : person[property],
          distinct_id: 'd',
          group_key: 'acme',
          missing,
          unavailable,
        };
        return places[place];
      };
      const shown = (found: Found) => (typeof found === 'symbol' ? found : found.value);
      const own = findPersonPropertySource(key, context);
      expect(shown(values.person(key))).toBe(read(own.source, own.property, sent));
      const ofGroup = findGroupPropertySource(key, { groupType: 0, typeName: 'company' }, context);
      expect(shown(values.group(0, key))).toBe(read(ofGroup.source, ofGroup.property, group));
    }),
  );
});
