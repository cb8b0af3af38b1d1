import { executionAsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';

interface Context {
  test: object | undefined;
  hook?: object;
}

type RunningTest = new () => {
  run(context: Context, callback: () => Promise<void>): Promise<void>;
  getStore(): Context | undefined;
};
const RunningTest = createRequire(import.meta.url)('./running-test.cjs') as RunningTest;

const first: Context = { test: { name: 'first' } };
const second: Context = { test: { name: 'second' } };

test('returns the running test, and while a hook runs, the test and the hook', async () => {
  const running = new RunningTest();
  const withHook = { ...first, hook: {} };
  await running.run(first, async () => {
    expect(running.getStore()).toBe(first);
    await running.run(withHook, async () => expect(running.getStore()).toBe(withHook));
    expect(running.getStore()).toBe(first);
  });
  expect(running.getStore()).toBeUndefined();
});

test('returns undefined while two tests run concurrently, and after the running test has failed', async () => {
  const running = new RunningTest();
  let fail = (_: Error) => {};
  const failing = running.run(first, () => new Promise((_, reject) => (fail = reject)));
  await running.run(second, async () => expect(running.getStore()).toBeUndefined());
  expect(running.getStore()).toBe(first);
  fail(new Error('failed'));
  await expect(failing).rejects.toThrow('failed');
  expect(running.getStore()).toBeUndefined();
});

test('jest does not store the running test in async contexts', async () => {
  const resource = executionAsyncResource() as Record<symbol, { test?: unknown } | undefined>;
  const stored = Object.getOwnPropertySymbols(resource).map((key) => resource[key]);
  expect(stored.filter((value) => value?.test !== undefined)).toEqual([]);
});
