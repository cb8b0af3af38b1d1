/**
 * The fastest way to get events from Kafka into a table, kept as the upper bound of `pnpm bench consumer --copy`: kafkajs
 * `eachBatch` and one COPY of the rows of the naive consumer for each 500. Event rows and nothing else; a batch that is
 * delivered twice fails.
 */
import { type CapturedEvent, topicNames } from '@millrace/contracts';
import { type CopyRow, copyRows, createDatabase } from '@millrace/db';
import { createLogger, environment } from '@millrace/runtime';
import { Kafka, logLevel } from 'kafkajs';

const env = environment();
const projectId = Number(env.NAIVE_PROJECT_ID);
const rowsPerStatement = 500;

const database = createDatabase({ url: env.DATABASE_URL ?? '', logger: createLogger('copy-consumer', 'warn') });
const kafka = new Kafka({ brokers: (env.KAFKA_BROKERS ?? '').split(','), logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId: env.NAIVE_GROUP ?? '' });

const copyStatement = `COPY event (project_id, uuid, event, distinct_id, timestamp, captured_at, properties, person_id)
  FROM STDIN (FORMAT binary)`;

function writeRow(row: CopyRow, { uuid, event, distinct_id, timestamp, now, properties }: CapturedEvent): void {
  row.integer(projectId);
  row.uuid(uuid);
  row.text(event);
  row.text(distinct_id);
  row.time(Date.parse(timestamp));
  row.time(Date.parse(now));
  row.jsonb(JSON.stringify(properties));
  // No persons here: any uuid does.
  row.uuid(uuid);
}

await consumer.connect();
await consumer.subscribe({ topic: topicNames(env.TOPIC_PREFIX).live, fromBeginning: true });
await consumer.run({
  eachBatch: async ({ batch, heartbeat }) => {
    const events = batch.messages.map(({ value }) => JSON.parse(String(value)) as CapturedEvent);
    for (let start = 0; start < events.length; start += rowsPerStatement) {
      const rows = copyRows(8, events.slice(start, start + rowsPerStatement), writeRow);
      await database.transaction((tx) => tx.copy(copyStatement, rows));
      await heartbeat();
    }
  },
});
process.send?.({ type: 'listening', port: 0 });
process.on('SIGTERM', () => {
  void consumer
    .disconnect()
    .then(() => database.stop())
    .finally(() => process.exit(0));
});
