import { describeFailure } from './describe-failure.ts';

test('tells what failed and where, never the message, which may quote values', () => {
  const error = Object.assign(new Error('invalid input: "ada@example.com"'), {
    name: 'error',
    code: '22P02',
    table: 'event',
    detail: 'Key (email)=(ada@example.com)',
  });
  const described = describeFailure(error);
  expect(described).toMatchObject({ errorName: 'error', code: '22P02', table: 'event' });
  expect(described.at).toEqual(expect.arrayContaining([expect.stringContaining('describe-failure.test')]));
  expect(JSON.stringify(described)).not.toContain('ada@example.com');
});

test('a thrown value that is no error is named by its type only', () => {
  expect(describeFailure('secret')).toEqual({ errorName: 'string' });
});
