import { isAppError } from '@millrace/errors';
import { Type } from 'typebox';
import { decodeCursor, encodeCursor } from './cursor.ts';

const position = Type.Object({ n: Type.Integer({ minimum: 0 }), key: Type.String() });

test('what was written is read again, in an address-safe word', () => {
  const cursor = encodeCursor({ n: 7, key: 'ключ/ß+=\ud83d\ude00' });
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(decodeCursor(position, cursor)).toEqual({ n: 7, key: 'ключ/ß+=\ud83d\ude00' });
  expect(decodeCursor(position, undefined)).toBeNull();
});

test.each([
  '',
  'abc',
  '=',
  '../..',
  Buffer.from('null').toString('base64url'),
  Buffer.from('[7, "a"]').toString('base64url'),
  encodeCursor({}),
  encodeCursor({ n: 7 }),
  encodeCursor({ n: -1, key: 'a' }),
  encodeCursor({ n: '7', key: 'a' }),
  encodeCursor({ n: 7, key: 'a\0b' }),
  encodeCursor({ n: 7, key: 'x'.repeat(5000) }),
])('%s is refused by name', (cursor) => {
  expect.assertions(1);
  try {
    decodeCursor(position, cursor);
  } catch (error) {
    expect(isAppError(error, 'invalid') && error.attr).toBe('cursor');
  }
});
