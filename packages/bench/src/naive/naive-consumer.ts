/**
 * The consumer with which `npm run bench -- consumer` compares Millrace. It is what most teams would write first:
 * kafkajs `eachBatch` with default settings, and Prisma `createMany`. With NAIVE_WRITE=copy, it uses COPY, the fastest
 * way to write rows to the table. In both cases, it stores only event rows. It has no persons, merges or groups, and no
 * protection against duplicates.
 */
import { type CapturedEvent, topicNames } from '@millrace/contracts';
import { type CopyRow, copyRows, createDatabase } from '@millrace/db';
import { createLogger, readEnvironment } from '@millrace/runtime';
import { Kafka, logLevel } from 'kafkajs';

const env = readEnvironment();
const projectId = Number(env.NAIVE_PROJECT_ID);
const rowsPerStatement = 500;

const database = createDatabase({ url: env.DATABASE_URL ?? '', logger: createLogger('naive-consumer', 'warn') });
const kafka = new Kafka({ brokers: (env.KAFKA_BROKERS ?? '').split(','), logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId: env.NAIVE_GROUP ?? '' });

async function createMany(events: readonly CapturedEvent[]): Promise<void> {
  const data = events.map(({ uuid, event, distinct_id, timestamp, now, properties }) => ({
    project_id: projectId,
    uuid,
    event,
    distinct_id,
    timestamp,
    captured_at: now,
    properties: properties as object,
    // Any UUID is sufficient, because this consumer has no persons.
    person_id: uuid,
  }));
  await database.prisma.event.createMany({ data, skipDuplicates: true });
}

const copyStatement = `COPY event (project_id, uuid, event, distinct_id, timestamp, captured_at, properties, person_id)
  FROM STDIN (FORMAT binary)`;

async function copy(events: readonly CapturedEvent[]): Promise<void> {
  const rows = copyRows(8, events, (row: CopyRow, event) => {
    row.integer(projectId);
    row.uuid(event.uuid);
    row.text(event.event);
    row.text(event.distinct_id);
    row.time(Date.parse(event.timestamp));
    row.time(Date.parse(event.now));
    row.jsonb(JSON.stringify(event.properties));
    row.uuid(event.uuid);
  });
  await database.transaction((tx) => tx.copy(copyStatement, rows));
}

const write = env.NAIVE_WRITE === 'copy' ? copy : createMany;

await consumer.connect();
await consumer.subscribe({ topic: topicNames(env.TOPIC_PREFIX).live, fromBeginning: true });
await consumer.run({
  eachBatch: async ({ batch, heartbeat }) => {
    const events = batch.messages.map(({ value }) => JSON.parse(String(value)) as CapturedEvent);
    for (let start = 0; start < events.length; start += rowsPerStatement) {
      await write(events.slice(start, start + rowsPerStatement));
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
