import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';

/** Appends the last records of each partition a second time, as they are: what a producer does that missed the answer. */
export async function produceAgain(broker: string, topic: string, count: number): Promise<void> {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  const consumer = kafka.consumer({ groupId: `chaos-${randomUUID()}`, maxWaitTimeInMs: 200 });
  await Promise.all([admin.connect(), producer.connect(), consumer.connect()]);
  try {
    const ends = await admin.fetchTopicOffsets(topic);
    const share = Math.ceil(count / ends.length);
    const left = new Map(ends.map(({ partition, high }) => [partition, Number(high)] as const));
    await consumer.subscribe({ topic, fromBeginning: true });
    let done: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      done = resolve;
    });
    await consumer.run({
      autoCommit: false,
      async eachBatch({ batch: { partition, messages } }) {
        const end = left.get(partition) ?? 0;
        const own = messages.filter(({ offset }) => Number(offset) < end);
        if (own.length > 0) {
          await producer.send({
            topic,
            acks: -1,
            messages: own.map(({ key, value, headers }) => ({ key, value, headers: headers ?? {}, partition })),
          });
        }
        if (Number(messages.at(-1)?.offset) >= end - 1) left.delete(partition);
        if (left.size === 0) done();
      },
    });
    for (const { partition, high } of ends) {
      const from = Math.max(0, Number(high) - share);
      if (from === Number(high)) left.delete(partition);
      consumer.seek({ topic, partition, offset: String(from) });
    }
    if (left.size > 0) await finished;
  } finally {
    await consumer.disconnect();
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    const cleaner = kafka.admin();
    await cleaner.connect();
    await cleaner.disconnect();
  }
}
