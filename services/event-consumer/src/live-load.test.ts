import { createLiveLoad } from './consume-lane.ts';

const never = new AbortController().signal;
const longMs = 60_000;

/** A live batch that lasts until it is told to end. */
function beginBatch(load: ReturnType<typeof createLiveLoad>): () => Promise<void> {
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

test('nobody waits while there is no live batch', async () => {
  await createLiveLoad().untilIdle(longMs, never);
});

test('others wait for the last live batch in hand', async () => {
  const load = createLiveLoad();
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

test('they wait no longer than they want to, and not when they are told to stop', async () => {
  const load = createLiveLoad();
  const end = beginBatch(load);
  await load.untilIdle(20, never);
  const stop = new AbortController();
  const waiting = load.untilIdle(longMs, stop.signal);
  stop.abort();
  await waiting;
  await load.untilIdle(longMs, AbortSignal.abort());
  await end();
});

test('a live batch that fails is over too', async () => {
  const load = createLiveLoad();
  await expect(load.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await load.untilIdle(longMs, never);
});
