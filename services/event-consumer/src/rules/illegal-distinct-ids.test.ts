import { isIllegalDistinctId } from './merge.ts';

const anyCase = [
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
];
const asWritten = ['[object Object]', 'NaN', 'None', 'none', 'null', '0', 'undefined'];

describe('merging illegal distinct IDs', () => {
  const quoted = (value: string) => [value, `'${value}'`, `"${value}"`];
  const upper = anyCase.map((value) => value.toUpperCase());
  const capital = anyCase.map((value) => value.charAt(0).toUpperCase() + value.slice(1));
  test.each([...anyCase, ...upper, ...capital, 'distinctId', ...asWritten].flatMap(quoted))(
    'treats %j as an illegal distinct ID',
    (id) => {
      expect(isIllegalDistinctId(id)).toBe(true);
    },
  );
  test.each(['', ' ', '   ', '\t\n', '\u00a0', 'a\u0000b', 'x'.repeat(401)])(
    'treats %j as an illegal distinct ID',
    (id) => {
      expect(isIllegalDistinctId(id)).toBe(true);
    },
  );
});

describe('merging legal distinct IDs', () => {
  test.each([
    'nan',
    'Nan',
    'NULL',
    'Null',
    'NONE',
    '00',
    '-1',
    ' null ',
    ' id',
    '[object object]',
    '"null\'',
    '""null""',
    'ids',
    'user@example.com',
    'x'.repeat(400),
    '🦊'.repeat(400),
    '__proto__',
    'constructor',
  ])('treats %j as a legal distinct ID', (id) => {
    expect(isIllegalDistinctId(id)).toBe(false);
  });
});
