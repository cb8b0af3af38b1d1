import { createDatabase } from '@millrace/db';
import { type AdapterName, openLog } from './adapters.ts';
import { createExactHandler } from './effects.ts';
import { testLogger } from './test-logger.ts';

export interface MemberArguments {
  adapter: AdapterName;
  databaseUrl: string;
  topic: string;
  group: string;
  name: string;
  /** An additional delay for each batch in milliseconds, so that a kill interrupts work. */
  batchMs: number;
}

/**
 * Runs a consumer in a separate process that a test can kill. Sends `ready` to the parent process when the consumer has
 * joined its group.
 */
async function main(): Promise<void> {
  const args: MemberArguments = JSON.parse(process.argv[2] ?? '{}');
  const database = createDatabase({ url: args.databaseUrl, logger: testLogger() });
  const { log } = openLog(args.adapter, args.databaseUrl);
  const exact = createExactHandler(database, args.topic, args.group, args.name);
  const consumer = await log.consume({
    topic: args.topic,
    group: args.group,
    maxBatchRecords: 25,
    maxBatchBytes: 1_000_000,
    partitionConcurrency: 4,
    startOffset: exact.startOffset,
    async handler(batch) {
      await new Promise((resolve) => setTimeout(resolve, args.batchMs));
      return exact.handler(batch);
    },
    onFatal: () => process.exit(1),
  });
  await consumer.ready;
  process.send?.('ready');
}

await main();
