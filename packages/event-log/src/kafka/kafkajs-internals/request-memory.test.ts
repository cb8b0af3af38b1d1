import { createRequestMemory } from './produce.ts';

test('the request buffer pool reuses only buffers that were released', () => {
  const memory = createRequestMemory();
  const [first, second] = [memory.take(100_000), memory.take(100_000)];
  expect(first).not.toBe(second);
  memory.release(first);
  expect(memory.take(90_000)).toBe(first);
  expect(memory.take(90_000)).not.toBe(second);
});

test('the request buffer pool returns buffers of at least the requested size', () => {
  const memory = createRequestMemory();
  memory.release(memory.take(1));
  for (const size of [0, 1, 65_536, 65_537, 1_000_000, 2_097_152, 2_097_153, 9_000_000]) {
    const room = memory.take(size);
    expect(room.length).toBeGreaterThanOrEqual(size);
    memory.release(room);
  }
});

test('the request buffer pool keeps a few recent buffers, but no very large ones', () => {
  const memory = createRequestMemory();
  const rooms = Array.from({ length: 6 }, () => memory.take(70_000));
  for (const room of rooms) memory.release(room);
  const again = Array.from({ length: 6 }, () => memory.take(70_000));
  expect(again.map((room) => rooms.indexOf(room))).toEqual([2, 3, 4, 5, -1, -1]);
  const large = memory.take(3_000_000);
  memory.release(large);
  expect(memory.take(3_000_000)).not.toBe(large);
});
