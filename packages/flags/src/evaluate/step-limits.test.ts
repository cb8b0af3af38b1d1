import {
  compileFlags,
  evaluateFlagsInSteps,
  nothingStored,
  selectFlags,
  startEvaluation,
  stepLimits,
} from '../index.ts';
import { flag, matches } from '../testing/ask-flag.ts';

const person = (operator: string, value: unknown) => ({ key: 'p', type: 'person', operator, value });
const long = 'a'.repeat(900_000);
/** A search text for which the JavaScript engine would compare each character of the string a thousand times. */
const slow = `${'a'.repeat(499)}b${'a'.repeat(500)}`;

function started(groupsOfFlags: unknown[][], properties: Record<string, unknown>) {
  const flags = compileFlags({
    flags: groupsOfFlags.map((groups, index) => ({ ...flag(`f-${index}`, { groups }), id: index + 1 })),
    ...{ cohorts: [], groupTypes: {}, timeZone: 'UTC', matchingVersion: 1 as const },
  });
  const context = { distinctId: 'u', groups: {}, groupProperties: {}, stored: nothingStored, now: 0 };
  return { flags, context: { ...context, personProperties: properties } };
}

/** Evaluates all flags. @returns the results, and the maximum number of steps between two pauses */
function evaluated(groupsOfFlags: unknown[][], properties: Record<string, unknown>) {
  const { flags, context } = started(groupsOfFlags, properties);
  const evaluation = startEvaluation(flags, selectFlags(flags, {}), context);
  const steps = evaluation.atMost(stepLimits.whole);
  let longest = 0;
  for (let before = 0; ; before = evaluation.steps()) {
    const next = steps.next();
    longest = Math.max(longest, evaluation.steps() - before);
    if (next.done) return { ...next.value, steps: evaluation.steps(), longest };
  }
}

test.each(['icontains', 'starts_with', 'ends_with', 'icontains_multi', 'regex'])(
  'never matches if the search text has more than 1,000 characters: %s',
  (operator) => {
    const needle = 'x'.repeat(1001);
    for (const value of [needle, 'y']) {
      expect(matches(operator, needle, { p: value })).toBe(false);
      expect(matches(`not_${operator}`, needle, { p: value })).toBe(false);
    }
    const longest = needle.slice(1);
    expect([matches(operator, longest, { p: longest }), matches(`not_${operator}`, longest, { p: longest })]).toEqual([
      true,
      false,
    ]);
  },
);

test('finds the same matches as String.includes', () => {
  const texts = ['a', 'b', 'ab', 'aab', 'abab', 'ababc', slow.slice(400, 600), slow];
  for (const needle of texts) {
    for (const around of ['', 'aba', 'a'.repeat(20_000)]) {
      for (const text of [
        around,
        around + needle,
        needle + around,
        around + needle.slice(1) + around,
        around + needle + around,
      ]) {
        expect(matches('icontains', needle, { p: text })).toBe(text.includes(needle));
      }
    }
  }
});

test('searches a string in a number of steps proportional to its length, whatever the search text', () => {
  const { results, steps } = evaluated([[{ properties: [person('icontains', slow)] }]], { p: long });
  expect([results[0]?.enabled, results[0]?.failure]).toEqual([false, null]);
  expect(steps).toBeLessThan(2 * long.length);
});

test('counts the steps of every filter and one conversion of the value, and fails flags above the limit', () => {
  const groups = Array.from({ length: 3750 }, (_, index) => ({ properties: [person('icontains', `z${index}`)] }));
  const small = evaluated([groups], { p: 'short' });
  expect(small.hasErrors).toBe(false);
  expect(small.steps).toBeGreaterThan(3750 * 10);
  const others = Array.from({ length: 80 }, () => groups);
  const { results, hasErrors, steps, longest } = evaluated([...others, [{}]], { p: 'aB'.repeat(7_950) });
  expect([hasErrors, results.at(-1)?.enabled, results.at(-2)?.failure]).toEqual([true, true, 'timeout']);
  expect(steps).toBeLessThan(stepLimits.whole + 100 * stepLimits.least);
  expect(longest).toBeLessThanOrEqual(stepLimits.each);
});

test('counts the hashing steps of conditions without filters', () => {
  const groups = Array.from({ length: 60_000 }, () => ({ rollout_percentage: 0 }));
  expect(evaluated([groups], {}).results[0]?.reason.code).toBe('timeout');
});

test('returns the same results after an evaluation was paused', () => {
  const groups = [{ properties: [person('icontains', slow)] }, { properties: [person('not_icontains', slow)] }];
  const { flags, context } = started([[{}], groups, groups], { p: long });
  const selected = selectFlags(flags, {});
  const last = <T>(steps: Generator<void, T>) => {
    for (;;) {
      const next = steps.next();
      if (next.done) return next.value;
    }
  };
  const evaluation = startEvaluation(flags, selected, context);
  const first = last(evaluation.upTo(stepLimits.cheap));
  expect([first.isComplete, first.results.length]).toEqual([false, 1]);
  const whole = last(evaluation.atMost(stepLimits.whole));
  expect(whole.results).toEqual(last(evaluateFlagsInSteps(flags, selected, context)).results);
  expect(whole.results.map(({ enabled }) => enabled)).toEqual([true, true, true]);
});
