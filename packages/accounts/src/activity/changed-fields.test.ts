import { changedFields } from './changed-fields.ts';

const between = (before: object, after: object, secret?: string[]) =>
  changedFields('Team', { before, after, ...(secret && { secret }) }).map(({ type: _type, ...change }) => change);

test.each([
  ['nothing', { a: 1, b: { x: 1, y: 2 } }, { a: 1, b: { y: 2, x: 1 } }, []],
  ['a value', { a: 1 }, { a: 2 }, [{ action: 'changed', field: 'a', before: 1, after: 2 }]],
  ['a first value', { a: null }, { a: 0 }, [{ action: 'created', field: 'a', before: null, after: 0 }]],
  ['no value any more', { a: false }, { a: null }, [{ action: 'deleted', field: 'a', before: false, after: null }]],
  [
    'the order of a list',
    { a: [1, 2] },
    { a: [2, 1] },
    [{ action: 'changed', field: 'a', before: [1, 2], after: [2, 1] }],
  ],
  [
    'something deep',
    { a: { b: [{ c: 1 }] } },
    { a: { b: [{ c: 2 }] } },
    [{ action: 'changed', field: 'a', before: { b: [{ c: 1 }] }, after: { b: [{ c: 2 }] } }],
  ],
  ['what was not looked at', { a: 1 }, { b: 2 }, []],
  [
    'what is never logged',
    { id: 1, uuid: 'a', created_at: 1, updated_at: 1, api_token: 'phc_a' },
    { id: 2, uuid: 'b', created_at: 2, updated_at: 2, api_token: 'phc_b' },
    [],
  ],
])('%s', (_what, before, after, expected) => {
  expect(between(before, after)).toEqual(expected);
});

test('a secret is reported as changed, without its values', () => {
  expect(between({ a: 'old' }, { a: 'new' }, ['a'])).toEqual([
    { action: 'changed', field: 'a', before: null, after: null },
  ]);
});
