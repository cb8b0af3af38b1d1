import { Writable } from 'node:stream';
import winston from 'winston';
import { AppError } from './app-error.ts';
import { createLogger } from './logger.ts';

function lineOf(write: (logger: winston.Logger) => void, level?: string): Record<string, unknown> {
  const lines: string[] = [];
  const logger = createLogger('gateway', level);
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  logger.clear().add(new winston.transports.Stream({ stream }));
  write(logger);
  expect(lines.join('')).not.toContain('{}');
  return lines.length === 0 ? {} : (JSON.parse(lines.join('')) as Record<string, unknown>);
}

test('a log line contains level, message, time and service', () => {
  expect(lineOf((logger) => logger.info('ready', { port: 8000 }))).toEqual({
    level: 'info',
    message: 'ready',
    port: 8000,
    service: 'gateway',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
});

test('the logger omits messages below the configured level', () => {
  expect(lineOf((logger) => logger.info('ready'), 'warn')).toEqual({});
});

test('logs an error with its name, code, stack and chain of causes', () => {
  const root = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const middle = new TypeError('cannot load', { cause: root });
  const error = new AppError('unavailable', 'Not now.', { cause: middle, details: { partition: 3 } });

  expect(lineOf((logger) => logger.error('failed', { error })).error).toEqual({
    name: 'AppError',
    message: 'Not now.',
    code: 'unavailable',
    kind: 'unavailable',
    details: { partition: 3 },
    stack: expect.stringContaining('logger.test.ts'),
    cause: {
      name: 'TypeError',
      message: 'cannot load',
      cause: { name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
    },
  });
});

test('logs an error that may quote user input with its stack but without its message', () => {
  const secret = 'somebody@example.com';
  const refusal = (code: string) =>
    Object.assign(new Error(`Key (email)=(${secret}) exists`), {
      ...{ code, severity: 'ERROR', table: 'user', constraint: 'user_email_key', detail: secret, where: secret },
    });
  let json: unknown;
  try {
    JSON.parse(secret);
  } catch (error) {
    json = error;
  }
  const typed = Object.assign(new Error(secret), { name: 'PrismaClientUnknownRequestError' });
  for (const error of [refusal('23505'), refusal('22P02'), refusal('P0001'), refusal('XX000'), json, typed]) {
    const line = lineOf((logger) =>
      logger.error('failed', { error: new Error('Why.', { cause: error }), also: error }),
    );
    expect(JSON.stringify(line)).not.toContain('somebody');
  }
  expect(lineOf((logger) => logger.error('failed', { error: refusal('23505') })).error).toMatchObject({
    message: 'rejected by PostgreSQL (message withheld)',
    code: '23505',
    table: 'user',
    constraint: 'user_email_key',
  });
  const missing = Object.assign(new Error('relation "person" does not exist'), { code: '42P01', severity: 'ERROR' });
  expect(lineOf((logger) => logger.error('failed', { error: missing }))).toHaveProperty(
    ['error', 'message'],
    'relation "person" does not exist',
  );
});

test.each([
  [
    'nested in the metadata',
    (error: Error) => ({ outcome: { attempts: [error] } }),
    ['outcome', 'attempts', 0, 'message'],
  ],
  ['under any name', (error: Error) => ({ reason: error }), ['reason', 'message']],
  [
    'in an AggregateError',
    (error: Error) => ({ error: new AggregateError([error]) }),
    ['error', 'errors', 0, 'message'],
  ],
])('the logger serializes an error %s', (_, facts, path) => {
  const line = lineOf((logger) => logger.error('failed', facts(new Error('boom'))));
  expect(line).toHaveProperty(path, 'boom');
});

test('logs an error that is passed as the message or as metadata', () => {
  expect(lineOf((logger) => logger.error(new Error('boom')))).toMatchObject({ message: 'boom' });
  expect(lineOf((logger) => logger.error('failed:', new Error('boom')))).toMatchObject({ message: 'failed: boom' });
});

test('logs a cause that is not an error as a string, and cuts off a circular chain of causes', () => {
  expect(lineOf((logger) => logger.error('x', { error: new Error('a', { cause: 'broken pipe' }) }))).toHaveProperty(
    ['error', 'cause'],
    'broken pipe',
  );
  const error = new Error('a');
  error.cause = new Error('b', { cause: error });
  expect(lineOf((logger) => logger.error('x', { error }))).toHaveProperty(['error', 'cause', 'cause', 'message'], 'a');
});

test('logs bigints, such as offsets, and circular metadata', () => {
  const facts: Record<string, unknown> = { offset: 12_345_678_901_234_567_890n };
  facts.self = facts;
  expect(lineOf((logger) => logger.info('stored', { facts }))).toHaveProperty(
    ['facts', 'offset'],
    '12345678901234567890',
  );
});
