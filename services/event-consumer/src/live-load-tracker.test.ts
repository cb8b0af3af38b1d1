import { createLiveLoadTracker } from './consume-topic.ts';

const never = new AbortController().signal;
const longMs = 60_000;

function beginBatch(load: ReturnType<typeof createLiveLoadTracker>): () => Promise<void> {
  let end: () => void = () => {};
  const lasting = new Promise<void>((resolve) => {
    end = resolve;
  });
  const batch = load.during(() => lasting);
  return async () => {
    end();
    await batch;
  };
}

test('historical events do not wait if no live batch is in flight', async () => {
  await createLiveLoadTracker().untilIdle(longMs, never);
});

test('historical events wait for the last in-flight live batch', async () => {
  const load = createLiveLoadTracker();
  const [endFirst, endSecond] = [beginBatch(load), beginBatch(load)];
  let isIdle = false;
  const waiting = load.untilIdle(longMs, never).then(() => {
    isIdle = true;
  });
  await endFirst();
  expect(isIdle).toBe(false);
  await endSecond();
  await waiting;
});

test('historical events wait for at most the given time, and stop waiting when aborted', async () => {
  const load = createLiveLoadTracker();
  const end = beginBatch(load);
  await load.untilIdle(20, never);
  const stop = new AbortController();
  const waiting = load.untilIdle(longMs, stop.signal);
  stop.abort();
  await waiting;
  await load.untilIdle(longMs, AbortSignal.abort());
  await end();
});

test('a live batch that fails is no longer considered in flight', async () => {
  const load = createLiveLoadTracker();
  await expect(load.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await load.untilIdle(longMs, never);
});
