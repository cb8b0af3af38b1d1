import { testServers } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { readLogDirectories } from './log-directories.ts';

test("reads a broker's log directories and their free space", async () => {
  const kafka = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING });
  const directories = await readLogDirectories(kafka);
  expect(directories).toEqual([
    {
      broker: expect.any(Number),
      path: expect.stringMatching(/^\//),
      isOffline: false,
      space: { totalBytes: expect.any(Number), freeBytes: expect.any(Number) },
    },
  ]);
  const space = directories?.[0]?.space;
  expect(space?.freeBytes).toBeGreaterThan(0);
  expect(space?.totalBytes).toBeGreaterThan(space?.freeBytes ?? 0);
});

test('reading log directories rejects if kafkajs has changed', async () => {
  await expect(readLogDirectories({} as Kafka)).rejects.toThrow('kafkajs changed');
});
