import { createByteBudget } from './byte-budget.ts';

test("limits the memory of all requests together, and releases a request's memory when it ends", () => {
  const budget = createByteBudget(100);
  const first = budget.lease();
  const second = budget.lease();
  first.take(60);
  second.take(40);
  expect(() => second.take(1)).toThrow(expect.objectContaining({ kind: 'unavailable', retryAfterSeconds: 1 }));
  expect(budget.usedBytes()).toBe(100);
  first.releaseAll();
  first.releaseAll();
  expect(budget.usedBytes()).toBe(40);
  second.take(60);
  expect(budget.usedBytes()).toBe(100);
});
