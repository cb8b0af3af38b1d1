import { AppError } from '@millrace/runtime';
import { classifyFailure, describeFailure, LedgerConflict, PartitionMissing } from './failures.ts';

const withCode = (code: string, message = 'refused') => Object.assign(new Error(message), { code });

test.each<[string, unknown, string, string | null]>([
  ['a lost race', new LedgerConflict('a person'), 'moved', null],
  ['a partition that retention dropped', new PartitionMissing(withCode('23514')), 'moved', null],
  ['a refused connection', withCode('ECONNREFUSED'), 'transient', null],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 'transient', null],
  ['a missing response', new Error('Query read timeout'), 'transient', null],
  ['a server that shuts down', withCode('57P01'), 'transient', null],
  ['a deadlock', withCode('40P01'), 'transient', null],
  ['a lock held by another session', withCode('55P03'), 'blocked', null],
  ['a statement that takes too long', withCode('57014'), 'slow', null],
  ['a session that ended because it was idle', withCode('25P03'), 'transient', null],
  ['a full disk', withCode('53100'), 'transient', null],
  ['a failover to a reader', withCode('25006'), 'transient', null],
  ['a log that does not respond', new AppError('unavailable', 'no broker'), 'transient', null],
  ['a missing table', withCode('42P01'), 'systemic', null],
  ['a missing column', withCode('42703'), 'systemic', null],
  ['a missing permission', withCode('42501'), 'systemic', null],
  ['a broken index', withCode('XX001'), 'systemic', null],
  ['too many open files', withCode('EMFILE'), 'systemic', null],
  ['a value out of range', withCode('22003'), 'poison', 'refused_by_database'],
  ['a NUL in jsonb', withCode('22P05'), 'poison', 'refused_by_database'],
  ['a violated constraint', withCode('23514'), 'poison', 'refused_by_database'],
  ['a value that is nested too deeply', withCode('54001'), 'poison', 'refused_by_database'],
  ['a programming error in the rules', new TypeError('x is not a function'), 'poison', 'processing_error'],
  ['an invalid call of Node.js', withCode('ERR_INVALID_ARG_TYPE'), 'poison', 'processing_error'],
  ['a text beyond the limits of JavaScript', new RangeError('Invalid string length'), 'poison', 'processing_error'],
  ['a thrown value that is not an error', 'text', 'poison', 'processing_error'],
])('classifies the failure %s', (_, error, kind, reason) => {
  expect(classifyFailure(error)).toEqual(reason === null ? { kind } : { kind, reason });
});

test('describes a failure without its message, which may contain property values', () => {
  const error = Object.assign(new Error('invalid input: "ada@example.com"'), {
    name: 'error',
    code: '22P02',
    table: 'event',
    detail: 'Key (email)=(ada@example.com)',
  });
  const described = describeFailure(error);
  expect(described).toMatchObject({ errorName: 'error', code: '22P02', table: 'event' });
  expect(described.at).toEqual(expect.arrayContaining([expect.stringContaining('failures.test')]));
  expect(JSON.stringify(described)).not.toContain('ada@example.com');
});

test('describes only the type of a thrown value that is not an error', () => {
  expect(describeFailure('secret')).toEqual({ errorName: 'string' });
});
