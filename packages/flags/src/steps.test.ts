import { setImmediate as afterOthers } from 'node:timers/promises';
import { runInTimeSlices } from './steps.ts';

test('concurrent tasks take turns, and let other work run in between', async () => {
  const worked = new Set<number>();
  function* work(number: number) {
    for (let step = 0; step < 40; step++) {
      worked.add(number);
      const endsAt = performance.now() + 1;
      while (performance.now() < endsAt);
      yield;
    }
    return number;
  }
  const numbers = [0, 1, 2, 3, 4];
  let isOver = false;
  const all = Promise.all(numbers.map((number) => runInTimeSlices(work(number)))).finally(() => {
    isOver = true;
  });
  const betweenOthers: number[] = [];
  for (worked.clear(); !isOver; worked.clear()) {
    await afterOthers();
    betweenOthers.push(worked.size);
  }
  expect(await all).toEqual(numbers);
  expect(Math.max(...betweenOthers)).toBe(1);
});
