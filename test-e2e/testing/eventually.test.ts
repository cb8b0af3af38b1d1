import { eventually } from './eventually.ts';

test('returns the first result other than false', async () => {
  let attempts = 0;
  const result = await eventually(
    () => {
      attempts += 1;
      if (attempts === 1) throw new Error('not yet');
      return attempts < 3 ? false : 'done';
    },
    { intervalMs: 1 },
  );
  expect([result, attempts]).toEqual(['done', 3]);
});

test('rejects after the time limit, naming the expected result and the last failure', async () => {
  const cause = new Error('still red');
  const waiting = eventually(() => Promise.reject(cause), { timeoutMs: 20, intervalMs: 1, what: 'The light' });

  await expect(waiting).rejects.toThrow(/^The light did not happen within 20 ms \(\d+ attempts\)\..*still red$/);
  await expect(waiting).rejects.toMatchObject({ cause });
});
