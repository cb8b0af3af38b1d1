import fc from 'fast-check';
import { createKeySketch } from './hot-keys.ts';

test("never estimates less than a key's exact count", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 300 }), fc.nat(), (texts, seed) => {
      const sketch = createKeySketch({ width: 16, seed });
      const exact = new Map<string, number>();
      for (const text of texts) {
        const prefix = text.slice(0, 1);
        const count = (exact.get(text) ?? 0) + 1;
        exact.set(text, count);
        expect(sketch.add(sketch.prefix(prefix), text.slice(1))).toBeGreaterThanOrEqual(count);
      }
    }),
  );
});

test('does not confuse a frequent key with a hundred thousand similar keys', () => {
  const sketch = createKeySketch({ seed: 7 });
  const prefix = sketch.prefix('phc_token:');
  let highestOfOthers = 0;
  let hot = 0;
  for (let index = 0; index < 100_000; index++) {
    highestOfOthers = Math.max(highestOfOthers, sketch.add(prefix, `visitor-${index}`));
    if (index % 100 === 0) hot = sketch.add(prefix, 'visitor');
  }
  expect(hot).toBeGreaterThanOrEqual(1000);
  expect(hot).toBeLessThan(1020);
  expect(highestOfOthers).toBeLessThan(20);
});

test('the sketch is empty after it is cleared', () => {
  const sketch = createKeySketch();
  for (let i = 0; i < 5; i++) sketch.add(sketch.prefix('k'), 'a');
  sketch.clear();
  expect(sketch.add(sketch.prefix('k'), 'a')).toBe(1);
});
