import { Type } from 'typebox';
import { compileSerializer } from './compile.ts';
import { freeFormObject } from './schema-shape.ts';

test('copies only declared fields, at every depth and in the order of the schema', () => {
  const schema = Type.Object({
    b: Type.Integer(),
    a: Type.Union([Type.Object({ x: Type.Integer() }), Type.Null()]),
    list: Type.Array(Type.Object({ x: Type.Integer() })),
    free: freeFormObject(),
  });
  const serialize = compileSerializer(schema);
  const row = { secret: 1, a: { x: 1, secret: 1 }, list: [{ secret: 1, x: 2 }], free: { any: { thing: 1 } }, b: 3 };
  expect(JSON.stringify(serialize(row))).toBe('{"b":3,"a":{"x":1},"list":[{"x":2}],"free":{"any":{"thing":1}}}');
  expect(serialize({ ...row, a: null })).toMatchObject({ a: null });
});

test('copies the declared fields of a response that may be a list or an object', () => {
  const item = Type.Object({ a: Type.Integer() });
  const serialize = compileSerializer(Type.Union([Type.Array(item), Type.Object({ results: Type.Array(item) })]));
  expect(serialize([{ a: 1, secret: 2 }])).toEqual([{ a: 1 }]);
  expect(serialize({ results: [{ a: 1, secret: 2 }], secret: 3 })).toEqual({ results: [{ a: 1 }] });
});

test('rejects a response schema with a union of objects at startup', () => {
  const union = Type.Union([Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.Integer() })]);
  expect(() => compileSerializer(union)).toThrow('union of several objects');
});
