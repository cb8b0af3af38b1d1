import { changedFields } from './changed-fields.ts';

const between = (before: object, after: object, secret?: string[]) =>
  changedFields('Team', { before, after, ...(secret && { secret }) }).map(({ type: _type, ...change }) => change);

test.each([
  ['returns nothing for equal objects', { a: 1, b: { x: 1, y: 2 } }, { a: 1, b: { y: 2, x: 1 } }, []],
  ['returns a changed value', { a: 1 }, { a: 2 }, [{ action: 'changed', field: 'a', before: 1, after: 2 }]],
  [
    'returns a value that replaces null as created',
    { a: null },
    { a: 0 },
    [{ action: 'created', field: 'a', before: null, after: 0 }],
  ],
  [
    'returns a value replaced by null as deleted',
    { a: false },
    { a: null },
    [{ action: 'deleted', field: 'a', before: false, after: null }],
  ],
  [
    'returns a list with another order as changed',
    { a: [1, 2] },
    { a: [2, 1] },
    [{ action: 'changed', field: 'a', before: [1, 2], after: [2, 1] }],
  ],
  [
    'returns a top-level field with a nested change',
    { a: { b: [{ c: 1 }] } },
    { a: { b: [{ c: 2 }] } },
    [{ action: 'changed', field: 'a', before: { b: [{ c: 1 }] }, after: { b: [{ c: 2 }] } }],
  ],
  ['ignores fields that exist in only one of the objects', { a: 1 }, { b: 2 }, []],
  [
    'ignores fields that are never logged',
    { id: 1, uuid: 'a', created_at: 1, updated_at: 1, api_token: 'phc_a' },
    { id: 2, uuid: 'b', created_at: 2, updated_at: 2, api_token: 'phc_b' },
    [],
  ],
])('changedFields: %s', (_what, before, after, expected) => {
  expect(between(before, after)).toEqual(expected);
});

test('reports a secret field as changed, without its values', () => {
  expect(between({ a: 'old' }, { a: 'new' }, ['a'])).toEqual([
    { action: 'changed', field: 'a', before: null, after: null },
  ]);
});
