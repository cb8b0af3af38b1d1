import { compileFlags } from '../compile/compile-flags.ts';
import { nothingStored } from './context.ts';
import { evaluateFlagsInSteps } from './evaluate-flags.ts';

const property = (value: string) => ({ type: 'person', key: 'email', operator: 'regex', value });

test('compiles each pattern only once and in a separate step of the evaluation', () => {
  const flags = compileFlags({
    flags: [
      {
        id: 1,
        key: 'a',
        active: true,
        filters: {
          groups: [
            { properties: [property('^steps-a'), property('^steps-b')] },
            { properties: [{ type: 'cohort', key: 'id', value: 7 }] },
          ],
        },
      },
    ],
    cohorts: [{ id: 7, isStatic: false, tree: { type: 'OR', values: [property('^steps-c'), property('^steps-a')] } }],
    groupTypes: {},
    timeZone: 'UTC',
    matchingVersion: 1,
  });
  const context = { distinctId: 'me', personProperties: { email: 'x' }, groups: {}, groupProperties: {} };
  const countSteps = () => {
    const steps = evaluateFlagsInSteps(flags, flags.inOrder, { ...context, stored: nothingStored, now: 0 });
    let count = 0;
    while (!steps.next().done) count += 1;
    return count;
  };
  expect([countSteps(), countSteps()]).toEqual([4, 1]);
});
