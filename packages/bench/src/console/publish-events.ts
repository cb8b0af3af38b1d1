/** The publisher's process: puts stored events on their topic at a rate, as event consumers do, so that its work is nobody else's. */
import { randomUUID } from 'node:crypto';
import { type ProcessedEvent, processedEventKey, processedEventVersion } from '@millrace/contracts';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { fillerProperties } from '../workload/gateway-workloads.ts';

export interface PublishMessage {
  type: 'publish';
  brokers: string[];
  topic: string;
  /** In turn. */
  projectIds: number[];
  /** Events a second of all projects together. */
  perSecond: number;
  durationMs: number;
}

export type PublishAnswer = { type: 'published'; count: number } | { type: 'not-published'; message: string };

const stepMs = 50;

const answer = (message: PublishAnswer) => process.send?.(message);

process.on('message', (message: PublishMessage | { type: 'usage' }) => {
  if (message.type !== 'publish') return;
  publish(message).then(
    (count) => answer({ type: 'published', count }),
    (error: Error) => answer({ type: 'not-published', message: error.message }),
  );
});
process.send?.({ type: 'listening', port: 0 });

/** What is due every 50 ms goes out together. A step that comes late sends what was due meanwhile. */
async function publish({ brokers, topic, projectIds, perSecond, durationMs }: PublishMessage): Promise<number> {
  const kafka = new Kafka({ brokers, clientId: 'millrace-bench', logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const startedAt = performance.now();
  let count = 0;
  try {
    for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - startedAt) {
      const due = Math.floor((elapsed / 1000) * perSecond) - count;
      const messages = Array.from({ length: due }, (_, at) => {
        const event = storedEvent(count + at, projectIds[(count + at) % projectIds.length] ?? 0);
        return { key: processedEventKey(event), value: JSON.stringify(event) };
      });
      if (due > 0) await producer.send({ topic, acks: -1, messages });
      count += due;
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    }
  } finally {
    await producer.disconnect();
  }
  return count;
}

/** Some 1 KB; the properties of a hundred events come again and again. */
const properties = Array.from(
  { length: 100 },
  (_, seed) => fillerProperties(seed, 900) as ProcessedEvent['properties'],
);

function storedEvent(number: number, projectId: number): ProcessedEvent {
  const now = new Date().toISOString();
  return {
    version: processedEventVersion,
    uuid: randomUUID(),
    project_id: projectId,
    event: number % 3 === 0 ? 'order placed' : '$pageview',
    distinct_id: `visitor-${number}`,
    timestamp: now,
    captured_at: now,
    properties: properties[number % properties.length] ?? {},
    elements_chain: '',
    person_id: randomUUID(),
    person_created_at: null,
    person_properties: {},
    person_mode: 'propertyless',
    historical_migration: false,
  };
}
