/** A server or program that tests need, identified by the environment variable that contains its address or path. */
export type TestServerVariable =
  | 'DATABASE_URL'
  | 'KAFKA_BROKERS'
  | 'KAFKA_JARS'
  | 'REDIS_URL'
  | 'REDIS_SERVER_PATH'
  | 'CHROMIUM_PATH'
  | 'WINDOWED_CHROMIUM_PATH'
  | 'FIREFOX_PATH'
  | 'WEBKIT_DRIVER_PATH';

/** Every test can use PostgreSQL. If a test needs more, its file name has a suffix, such as `live.kafka.test.ts`. */
const bySuffix: Readonly<Record<string, readonly TestServerVariable[]>> = {
  kafka: ['KAFKA_BROKERS', 'REDIS_URL'],
  // Includes Kafka's programs, for brokers that the test itself starts and stops.
  'kafka-cluster': ['KAFKA_BROKERS', 'KAFKA_JARS', 'REDIS_URL'],
  redis: ['REDIS_URL'],
  // The path of the Redis program, for servers that the test itself starts and stops.
  'redis-server': ['REDIS_SERVER_PATH'],
  chromium: ['CHROMIUM_PATH'],
  // A Chromium with a back/forward cache, which keeps pages in memory that a visitor has left.
  'kept-pages': ['CHROMIUM_PATH', 'WINDOWED_CHROMIUM_PATH'],
  firefox: ['FIREFOX_PATH'],
  webkit: ['WEBKIT_DRIVER_PATH'],
};

/** Returns the servers and programs that test files need, according to the names of the files. */
export function findTestServerVariables(testFiles: readonly string[]): Set<TestServerVariable> {
  const suffixes = testFiles.flatMap((file) => (file.split('/').at(-1) ?? '').split('.').slice(1));
  const base: TestServerVariable[] = testFiles.length > 0 ? ['DATABASE_URL'] : [];
  return new Set([...base, ...suffixes.flatMap((suffix) => bySuffix[suffix] ?? [])]);
}

/** Returns the variables that are hidden from a test file, so that a test without the necessary suffix fails. */
export function findHiddenVariables(testFile: string): TestServerVariable[] {
  const needs = findTestServerVariables([testFile]);
  return [...new Set(Object.values(bySuffix).flat())].filter((need) => !needs.has(need));
}
