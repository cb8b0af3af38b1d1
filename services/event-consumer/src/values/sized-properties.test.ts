import type { JsonObject } from '@millrace/contracts';
import fc from 'fast-check';
import { applyChange, noChange, replaceProperties, type SizedProperties, sizeAfterChange } from './sized-properties.ts';

const keys = fc.constantFrom('a', 'b', 'é"', '__proto__', 'long name');
const values = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null), fc.array(fc.string()));
const puts = fc.array(fc.tuple(keys, values), { maxLength: 3 });
const steps = fc.array(
  fc.record({ put: puts, removed: fc.uniqueArray(keys, { maxLength: 2 }), isShown: fc.boolean() }),
);
const exactly = 0;

const jsonBytes = (properties: JsonObject) => Buffer.byteLength(JSON.stringify(properties));

test("adjusts the properties' size at each change, and does not modify shared objects", () => {
  fc.assert(
    fc.property(puts, steps, fc.boolean(), (first, changes, isMeasured) => {
      const sized: SizedProperties = { properties: Object.fromEntries(first) };
      if (isMeasured) sizeAfterChange(sized, noChange, exactly);
      const model = new Map<string, unknown>(first);
      const shown: { object: JsonObject; text: string }[] = [];
      for (const { put: changed, removed: unwanted, isShown } of changes) {
        const removed = unwanted.filter((key) => model.has(key));
        const put = Object.fromEntries(changed.filter(([key]) => !removed.includes(key)));
        if (isShown) {
          sized.areShared = true;
          shown.push({ object: sized.properties, text: JSON.stringify(sized.properties) });
        }
        applyChange(sized, { put, removed });
        for (const key of Object.keys(put)) model.set(key, Object.getOwnPropertyDescriptor(put, key)?.value);
        for (const key of removed) model.delete(key);
        expect(new Map(Object.entries(sized.properties))).toEqual(model);
        const bytes = sizeAfterChange({ ...sized }, noChange, exactly);
        expect(bytes).toBe(model.size === 0 ? 1 : jsonBytes(sized.properties));
      }
      for (const { object, text } of shown) expect(JSON.stringify(object)).toBe(text);
    }),
  );
});

test("updates the properties' size when a property is replaced", () => {
  const sized: SizedProperties = { properties: { a: 'x'.repeat(100) } };
  expect(sizeAfterChange(sized, noChange, exactly)).toBe('{"a":""}'.length + 100);
  replaceProperties(sized, { b: 1 });
  expect(sizeAfterChange(sized, noChange, exactly)).toBe('{"b":1}'.length);
});
