import fc from 'fast-check';
import { type ClientEvent, readDistinctId, truncateDistinctId } from './client-event.ts';

const storedId = (event: ClientEvent) => {
  const id = readDistinctId(event);
  return id === null ? null : truncateDistinctId(id);
};

describe("reading an event's distinct ID", () => {
  test.each<[string, object, string | null]>([
    ['field-001 missing', {}, null],
    ['field-001 null', { distinct_id: null }, null],
    ['field-001 empty', { distinct_id: '' }, null],
    ['field-001 blank', { distinct_id: '   ' }, null],
    ['an empty value does not fall back', { distinct_id: '', properties: { distinct_id: 'a' } }, null],
    ['field-004 in properties only', { properties: { distinct_id: 'myid' } }, 'myid'],
    ['field-004 at both levels', { distinct_id: 23, properties: { distinct_id: 'myid' } }, '23'],
    ['field-004 $distinct_id', { $distinct_id: '23' }, '23'],
    ['$distinct_id in properties', { properties: { $distinct_id: '23' } }, '23'],
    ['a null at the top level falls back', { distinct_id: null, properties: { distinct_id: 'myid' } }, 'myid'],
    ['field-007 a whole number', { distinct_id: 23 }, '23'],
    ['field-007 a fraction', { distinct_id: 23.4 }, '23.4'],
    ['zero', { distinct_id: 0 }, '0'],
    ['false', { distinct_id: false }, 'false'],
    ['field-007 an array', { distinct_id: ['a', 'b'] }, '["a","b"]'],
    ['field-007 an object, keys in order', { distinct_id: { string: 'a', number: 3 } }, '{"number":3,"string":"a"}'],
    [
      'keys in order at every level',
      { distinct_id: { b: [{ d: 1, c: null }], a: true } },
      '{"a":true,"b":[{"c":null,"d":1}]}',
    ],
    ['field-008 222 ASCII characters', { distinct_id: 'x'.repeat(222) }, 'x'.repeat(200)],
    ['field-008 150 three-byte characters', { distinct_id: '€'.repeat(150) }, '€'.repeat(150)],
    ['field-008 250 three-byte characters', { distinct_id: '€'.repeat(250) }, '€'.repeat(200)],
    ['250 characters outside the basic plane', { distinct_id: '🎉'.repeat(250) }, '🎉'.repeat(200)],
    ['field-011 surrounding white space is kept', { distinct_id: '  hello  ' }, '  hello  '],
  ])('%s', (_name, event, expected) => {
    expect(storedId(event)).toBe(expected);
  });

  test('truncates a distinct ID to 200 code points, and never within a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const id = storedId({ distinct_id: text });
        if (id === null) return expect(text.trim()).toBe('');
        expect([...id].length).toBeLessThanOrEqual(200);
        expect(id.isWellFormed()).toBe(true);
        expect(text.startsWith(id)).toBe(true);
      }),
    );
  });
});
