import fc from 'fast-check';
import { parseJson } from './parse.ts';

const refusalOf = (text: string) => {
  try {
    parseJson(text);
  } catch (error) {
    return (error as Error).message.replace('The body is not valid JSON: ', '');
  }
  return null;
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each<[string, string, unknown]>([
  ['a value', '{"a":NaN,"b":Infinity,"c":-Infinity}', { a: null, b: null, c: null }],
  ['an item', '[NaN, 1, -Infinity]', [null, 1, null]],
  ['the whole text', 'NaN', null],
  [
    'after a string that contains it',
    '{"NaN":"Infinity, \\"NaN\\" \\\\","x":NaN}',
    { NaN: 'Infinity, "NaN" \\', x: null },
  ],
  ['next to numbers', '[-1,NaN,-2.5e-3]', [-1, null, -0.0025]],
])('replaces NaN and infinities in JSON with null: %s', (_where, text, expected) => {
  expect(parseJson(text)).toEqual(expected);
});

test.each([
  ['', 'unexpected end at line 1, column 1. Send an object or an array of events.'],
  ['{"a":1,}', 'unexpected character at line 1, column 8.'],
  ['{"a":1', 'unexpected end at line 1, column 7.'],
  ['{"a":"x', 'unexpected end at line 1, column 8.'],
  ['{\n  "a": 1,\n  b: 2\n}', 'unexpected character at line 3, column 3.'],
  ['{"a":1}\n{"a":2}', 'unexpected character at line 2, column 1.'],
  ['[1 2]', 'unexpected character at line 1, column 4.'],
  ['[01]', 'unexpected character at line 1, column 3.'],
  ['{"a":"\\x"}', 'unexpected character at line 1, column 7.'],
  ['{"a":"line\nbreak"}', 'unexpected character at line 1, column 11.'],
  ["{'a':1}", 'unexpected character at line 1, column 2.'],
  ['{"a":undefined}', 'unexpected character at line 1, column 6.'],
  ['{"a":NaN,"b":NaM}', 'unexpected character at line 1, column 14.'],
  ['secret', 'unexpected character at line 1, column 1. Send an object or an array of events.'],
])('the error for invalid JSON %j contains the line and the column', (text, message) => {
  expect(refusalOf(text)).toBe(message);
});

test('finds the syntax error in deeply nested JSON', () => {
  expect(refusalOf('['.repeat(200_000))).toBe('unexpected end at line 1, column 200001.');
});

const placed = (more: fc.Arbitrary<string>) =>
  fc.tuple(fc.json(), fc.nat(), more).map(([text, number, character]) => {
    const at = number % text.length;
    return { text, at, broken: text.slice(0, at) + character + text.slice(at) };
  });

test('finds a syntax error in exactly those strings that JSON.parse rejects', () => {
  fc.assert(
    fc.property(placed(fc.constantFrom('\u0001', ',', '}', ']', '"', '\\', '1', ' ')), ({ broken }) => {
      expect(refusalOf(broken) === null).toBe(isJson(broken));
    }),
  );
});

test('reports a syntax error at the invalid character, or at the start of its word or escape sequence', () => {
  fc.assert(
    fc.property(placed(fc.constant('\u0001')), ({ text, at, broken }) => {
      const position = Number(/column (\d+)\./.exec(refusalOf(broken) ?? '')?.[1]) - 1;
      expect(position).toBeLessThanOrEqual(at);
      expect(text.slice(position, at)).toMatch(/^(?:[a-z]*|-|\\(?:u[0-9a-f]{0,3})?|[\d.eE+-]*[.eE+-])$/);
    }),
  );
});

test('replaces NaN and infinities with null in all positions, and changes nothing else in the JSON', () => {
  const value = fc.jsonValue().map((json) => json as unknown);
  const words = fc.constantFrom('NaN', 'Infinity', '-Infinity');
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), value, words)), (items) => {
      const text = `[${items.map(([name, json, word]) => `{${JSON.stringify(name)}:${word},"v":${JSON.stringify(json)},"w":"${word}"}`).join()}]`;
      const plain = `[${items.map(([name, json, word]) => `{${JSON.stringify(name)}:null,"v":${JSON.stringify(json)},"w":"${word}"}`).join()}]`;
      expect(parseJson(text)).toEqual(JSON.parse(plain));
    }),
  );
});
