import { AppError, isAppError } from './app-error.ts';

test('an AppError uses its kind as its code by default, and has no other details', () => {
  const error = new AppError('not_found', 'Not found.');
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'AppError', message: 'Not found.', kind: 'not_found', code: 'not_found' });
  expect([error.attr, error.details, error.retryAfterSeconds, error.cause]).toEqual([null, {}, undefined, undefined]);
  expect('cause' in error).toBe(false);
});

test('an AppError keeps all of its options', () => {
  const cause = new Error('root');
  const options = { code: 'blank', attr: 'batch__3__uuid', details: { index: 3 }, retryAfterSeconds: 2, cause };
  expect(new AppError('invalid', 'Blank.', options)).toMatchObject(options);
});

test.each([
  [new AppError('conflict', 'x'), undefined, true],
  [new AppError('conflict', 'x'), 'conflict', true],
  [new AppError('conflict', 'x'), 'invalid', false],
  [new Error('x'), undefined, false],
  [{ name: 'AppError', kind: 'conflict' }, 'conflict', false],
  [null, undefined, false],
] as const)('isAppError(%p, %s) returns %s', (error, kind, expected) => {
  expect(isAppError(error, kind)).toBe(expected);
});
