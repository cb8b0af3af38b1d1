import { findHiddenVariables, findTestServerVariables } from './needs-by-name.ts';

test.each([
  ['a/b.test.ts', ['DATABASE_URL']],
  ['a/live.kafka.test.ts', ['DATABASE_URL', 'KAFKA_BROKERS', 'REDIS_URL']],
  ['a/visits.chromium.kafka.sampled.test.ts', ['CHROMIUM_PATH', 'DATABASE_URL', 'KAFKA_BROKERS', 'REDIS_URL']],
  ['kafka/a.test.ts', ['DATABASE_URL']],
])('a test file named %s needs %j', (file, needs) => {
  expect([...findTestServerVariables([file])].sort()).toEqual(needs);
});

it('a run without test files needs no servers', () => {
  expect(findTestServerVariables([]).size).toBe(0);
});

it('hides those servers from a test file that its name does not mention', () => {
  expect(findHiddenVariables('a/live.kafka.test.ts')).toContain('CHROMIUM_PATH');
  expect(findHiddenVariables('a/live.kafka.test.ts')).not.toContain('KAFKA_BROKERS');
  expect(process.env.KAFKA_BROKERS).toBeUndefined();
});
