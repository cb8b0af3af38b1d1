import type { JsonObject } from '@millrace/contracts';
import fc from 'fast-check';
import { bytesAfter, change, type HeldProperties, hold, noChange } from './held-properties.ts';

const keys = fc.constantFrom('a', 'b', 'é"', '__proto__', 'long name');
const values = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null), fc.array(fc.string()));
const puts = fc.array(fc.tuple(keys, values), { maxLength: 3 });
const steps = fc.array(
  fc.record({ put: puts, removed: fc.uniqueArray(keys, { maxLength: 2 }), isShown: fc.boolean() }),
);
const exactly = 0;

const jsonBytes = (properties: JsonObject) => Buffer.byteLength(JSON.stringify(properties));

test('what is measured once and then by what changes is what is there, and who holds an object sees no change', () => {
  fc.assert(
    fc.property(puts, steps, fc.boolean(), (first, changes, isMeasured) => {
      const held: HeldProperties = { properties: Object.fromEntries(first) };
      if (isMeasured) bytesAfter(held, noChange, exactly);
      const model = new Map<string, unknown>(first);
      const shown: { object: JsonObject; text: string }[] = [];
      for (const { put: wanted, removed: unwanted, isShown } of changes) {
        const removed = unwanted.filter((key) => model.has(key));
        const put = Object.fromEntries(wanted.filter(([key]) => !removed.includes(key)));
        if (isShown) {
          held.areShared = true;
          shown.push({ object: held.properties, text: JSON.stringify(held.properties) });
        }
        change(held, { put, removed });
        for (const key of Object.keys(put)) model.set(key, Object.getOwnPropertyDescriptor(put, key)?.value);
        for (const key of removed) model.delete(key);
        expect(new Map(Object.entries(held.properties))).toEqual(model);
        const bytes = bytesAfter({ ...held }, noChange, exactly);
        expect(bytes).toBe(model.size === 0 ? 1 : jsonBytes(held.properties));
      }
      for (const { object, text } of shown) expect(JSON.stringify(object)).toBe(text);
    }),
  );
});

test('other properties are measured anew', () => {
  const held: HeldProperties = { properties: { a: 'x'.repeat(100) } };
  expect(bytesAfter(held, noChange, exactly)).toBe('{"a":""}'.length + 100);
  hold(held, { b: 1 });
  expect(bytesAfter(held, noChange, exactly)).toBe('{"b":1}'.length);
});
