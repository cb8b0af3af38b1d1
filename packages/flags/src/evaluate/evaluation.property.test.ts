import fc from 'fast-check';
import {
  compileFlags,
  evaluateFlags,
  type FlagDefinition,
  nothingStored,
  propertyOperators,
  selectFlags,
  toFlagValue,
} from '../index.ts';
import { evaluate, flag } from '../testing/ask-flag.ts';

const id = fc.string({ maxLength: 30 });
const json = fc.jsonValue({ maxDepth: 3 });
/** Filter keys, some of which have a special meaning in JavaScript. */
const key = fc.constantFrom('type', 'key', 'operator', 'value', 'values', 'negation', '__proto__', 'constructor', 'p');
const operator = fc.constantFrom<string>(...propertyOperators, 'in', 'flag_evaluates_to', 'unheard_of', 'min');
const filter = fc.record(
  {
    key: fc.oneof(key, json),
    type: fc.constantFrom<unknown>('person', 'group', 'cohort', 'flag', 'other', 7),
    operator: fc.oneof(operator, json),
    value: json,
    negation: fc.oneof(fc.boolean(), json),
    group_type_index: fc.oneof(fc.integer({ min: 0, max: 4 }), json),
  },
  { requiredKeys: [] },
);
const condition = fc.record(
  {
    properties: fc.oneof(fc.array(fc.oneof({ weight: 5, arbitrary: filter }, json), { maxLength: 3 }), json),
    rollout_percentage: fc.oneof(fc.double({ min: 0, max: 100 }), json),
    variant: fc.oneof(id, json),
    aggregation_group_type_index: fc.oneof(fc.constantFrom(null, 0, 1), json),
  },
  { requiredKeys: [] },
);
const filters = fc.record(
  {
    groups: fc.oneof(fc.array(fc.oneof({ weight: 5, arbitrary: condition }, json), { maxLength: 3 }), json),
    multivariate: fc.oneof(
      fc.record({ variants: fc.array(fc.record({ key: id, rollout_percentage: fc.oneof(fc.double(), json) })) }),
      json,
    ),
    payloads: fc.oneof(fc.dictionary(id, json), json),
    holdout: fc.oneof(fc.record({ id: fc.nat(), exclusion_percentage: fc.double() }), json),
    feature_enrollment: fc.oneof(fc.boolean(), json),
    super_groups: fc.oneof(fc.array(condition, { maxLength: 2 }), json),
    early_exit: fc.boolean(),
  },
  { requiredKeys: [] },
);
const definition: fc.Arbitrary<FlagDefinition> = fc.record({
  id: fc.integer({ min: 1, max: 6 }),
  key: id,
  active: fc.boolean(),
  filters: fc.oneof({ weight: 5, arbitrary: filters }, json),
});
const tree = fc.letrec((tie) => ({
  node: fc.oneof(
    filter,
    json,
    fc.record({ type: fc.constantFrom('AND', 'OR'), values: fc.array(tie('node'), { maxLength: 3 }) }),
  ),
})).node;

test('always returns the same result for a flag, whatever the definitions and the request', () => {
  const request = fc.record({
    distinctId: id,
    groups: fc.dictionary(id, json),
    personProperties: fc.dictionary(key, json),
  });
  fc.assert(
    fc.property(
      fc.array(definition, { maxLength: 6 }),
      fc.array(tree, { maxLength: 3 }),
      request,
      (flags, trees, context) => {
        const cohorts = trees.map((filter, index) => ({ id: index + 1, isStatic: false, tree: filter }));
        const once = evaluate({ flags, cohorts, request: context });
        expect(evaluate({ flags, cohorts, request: context })).toEqual(once);
      },
    ),
    { numRuns: 500 },
  );
});

const share = fc.double({ min: 0, max: 100, noNaN: true });
const split = {
  multivariate: {
    variants: [
      { key: 'a', rollout_percentage: 50 },
      { key: 'b', rollout_percentage: 50 },
    ],
  },
};
const valueAt = (rollout_percentage: number, distinctId: string) =>
  evaluate({ flags: [flag('f', { groups: [{ rollout_percentage }], filters: split })], request: { distinctId } })
    .results.f?.value;

test('a person for whom a flag is on keeps the flag and its variant when the rollout increases', () => {
  fc.assert(
    fc.property(share, share, id, (one, other, distinctId) => {
      const [less, more] = [valueAt(Math.min(one, other), distinctId), valueAt(Math.max(one, other), distinctId)];
      if (less !== false) expect(more).toBe(less);
    }),
  );
});

test('returns the opposite result for a negated operator if the filter and the property are valid', () => {
  const pairs = propertyOperators.flatMap((name) => {
    const denied = name.startsWith('not_') ? name.slice(4) : name === 'is_not' ? 'exact' : null;
    return denied === null ? [] : [[denied, name] as const];
  });
  const context = (name: string, value: unknown, property: unknown) =>
    evaluate({
      flags: [flag('f', { groups: [{ properties: [{ key: 'p', type: 'person', operator: name, value }] }] })],
      request: { personProperties: { p: property } },
    }).results.f?.value;
  const plain = fc.oneof(fc.string(), fc.integer(), fc.boolean());
  fc.assert(
    fc.property(fc.constantFrom(...pairs), plain, plain, ([denied, denying], value, property) => {
      if (context(denied, value, property) === true) expect(context(denying, value, property)).toBe(false);
    }),
  );
});

test('evaluating some of the flags returns the same results as evaluating all flags', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(definition, { selector: ({ id: number }) => number, maxLength: 6 }),
      id,
      (flags, distinctId) => {
        const unique = flags.map((one, index) => ({ ...one, key: `${index}` }));
        const compiled = compileFlags({
          flags: unique,
          cohorts: [],
          groupTypes: {},
          timeZone: 'UTC',
          matchingVersion: 1,
        });
        const context = {
          distinctId,
          groups: {},
          personProperties: {},
          groupProperties: {},
          stored: nothingStored,
          now: 0,
        };
        const values = (keys?: string[]) =>
          new Map(
            evaluateFlags(compiled, selectFlags(compiled, keys === undefined ? {} : { keys }), context).results.map(
              (result) => [result.key, toFlagValue(result)],
            ),
          );
        const all = values();
        for (const one of all.keys()) expect(values([one]).get(one)).toEqual(all.get(one));
      },
    ),
  );
});
