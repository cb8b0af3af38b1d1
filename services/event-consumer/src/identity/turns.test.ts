import { setImmediate as tick } from 'node:timers/promises';
import { createTurns } from './turns.ts';

/** Asks for a turn and notes when it is granted. */
function request(turns: ReturnType<typeof createTurns>, name: string, keys: string[], granted: string[]) {
  return turns.take(new Set(keys)).then((end) => {
    granted.push(name);
    return end;
  });
}

test('batches that share no key do not wait for each other', async () => {
  const turns = createTurns();
  const granted: string[] = [];
  await Promise.all([request(turns, 'a', ['1', '2'], granted), request(turns, 'b', ['3'], granted)]);
  expect(granted).toEqual(['a', 'b']);
});

test('batches that share a key go one after the other, in the order they asked', async () => {
  const turns = createTurns();
  const granted: string[] = [];
  const endA = await request(turns, 'a', ['1', '2'], granted);
  const b = request(turns, 'b', ['2', '3'], granted);
  const c = request(turns, 'c', ['3'], granted);
  await tick();
  expect(granted).toEqual(['a']);

  endA();
  const endB = await b;
  await tick();
  expect(granted).toEqual(['a', 'b']);

  endB();
  (await c)();
  expect(granted).toEqual(['a', 'b', 'c']);
});

test('an ended turn is forgotten', async () => {
  const turns = createTurns();
  (await turns.take(new Set(['1'])))();
  const granted: string[] = [];
  await request(turns, 'later', ['1'], granted);
  expect(granted).toEqual(['later']);
});
