/**
 * The consumer most teams would write first, kept as the yardstick of `pnpm bench consumer`: kafkajs `eachBatch` and
 * Prisma `createMany`, with their defaults. It stores the event rows and nothing else: no persons, no distinct ids, no
 * groups, no merges, no duplicates by uuid, offsets committed to Kafka only. The real one does all of that in the same time.
 */
import { type CapturedEvent, topicNames } from '@millrace/contracts';
import { createDatabase, type Prisma } from '@millrace/db';
import { createLogger, environment } from '@millrace/runtime';
import { Kafka, logLevel } from 'kafkajs';

const env = environment();
const projectId = Number(env.NAIVE_PROJECT_ID);
const rowsPerStatement = 500;

const database = createDatabase({ url: env.DATABASE_URL ?? '', logger: createLogger('naive-consumer', 'warn') });
const kafka = new Kafka({ brokers: (env.KAFKA_BROKERS ?? '').split(','), logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId: env.NAIVE_GROUP ?? '' });

function toRow(event: CapturedEvent): Prisma.eventCreateManyInput {
  return {
    project_id: projectId,
    uuid: event.uuid,
    event: event.event,
    distinct_id: event.distinct_id,
    timestamp: event.timestamp,
    captured_at: event.now,
    properties: event.properties as Prisma.InputJsonObject,
    // No persons here: any uuid does.
    person_id: event.uuid,
  };
}

await consumer.connect();
await consumer.subscribe({ topic: topicNames(env.TOPIC_PREFIX).live, fromBeginning: true });
await consumer.run({
  eachBatch: async ({ batch, heartbeat }) => {
    const rows = batch.messages.map(({ value }) => toRow(JSON.parse(String(value)) as CapturedEvent));
    for (let start = 0; start < rows.length; start += rowsPerStatement) {
      await database.prisma.event.createMany({
        data: rows.slice(start, start + rowsPerStatement),
        skipDuplicates: true,
      });
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
