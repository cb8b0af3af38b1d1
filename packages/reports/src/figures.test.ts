import { buildFunnelFigure } from './figures.ts';

const steps = (...counts: number[]) => counts.map((count) => ({ count }));

test.each([
  ['of the first and the last step', steps(3, 2, 1), 33.33],
  ['that no person finished', steps(3, 0), 0],
  ['that no person began, which has no rate', steps(0, 0), null],
  ['with one step', steps(3), null],
  ['with a breakdown', [steps(3, 1), steps(2, 1)], null],
])('computes the conversion rate of a funnel %s', (_name, results, expected) => {
  expect(buildFunnelFigure(results)?.value ?? null).toBe(expected);
});
