import { type CounterChange, createInProcessStore } from '@millrace/runtime/cache';
import { batchCounterChanges } from './rate-limit.ts';

const add = (key: string, by: number): CounterChange => ({ key, by, atLeast: 0, ttlSeconds: 60 });

function fixture() {
  const store = createInProcessStore();
  const commands: (readonly CounterChange[])[] = [];
  const addToCounters = batchCounterChanges((changes) => {
    commands.push(changes);
    return store.addToCounters(changes);
  });
  return { addToCounters, commands };
}

test('sends the counter changes of an event loop iteration as one command, and returns the counts in call order', async () => {
  const { addToCounters, commands } = fixture();
  await addToCounters([add('a', 5)]);
  const counts = await Promise.all([
    addToCounters([add('a', 1), add('b', 0)]),
    addToCounters([add('b', 2)]),
    addToCounters([add('a', 1), add('b', 1)]),
    addToCounters([add('a', -1)]),
  ]);
  expect(counts).toEqual([[6, 0], [2], [7, 3], [6]]);
  expect(commands.slice(1)).toEqual([[add('a', 1), add('b', 3)]]);
  expect(await addToCounters([add('a', 0), add('b', 0)])).toEqual([6, 3]);
});

test('limits the number of counter changes in one command', async () => {
  const { addToCounters, commands } = fixture();
  await Promise.all(Array.from({ length: 1000 }, (_, index) => addToCounters([add(`${index}`, 1)])));
  expect(Math.max(...commands.map((changes) => changes.length))).toBeLessThanOrEqual(200);
});

test('rejects all counter changes in a failed command, but no later changes', async () => {
  let fails = true;
  const store = createInProcessStore();
  const addToCounters = batchCounterChanges(async (changes) => {
    if (fails) throw new Error('away');
    return store.addToCounters(changes);
  });
  const outcomes = await Promise.allSettled([addToCounters([add('a', 1)]), addToCounters([add('a', 1)])]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await addToCounters([add('a', 1)])).toEqual([1]);
});
