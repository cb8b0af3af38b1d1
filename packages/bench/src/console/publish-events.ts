/** Runs in a worker: publishes stored events at a given rate, as event consumers do. */
import { randomUUID } from 'node:crypto';
import { type ProcessedEvent, processedEventKey, processedEventVersion } from '@millrace/contracts';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { createFillerProperties } from '../workload/gateway-workloads.ts';

interface Publication {
  brokers: string[];
  topic: string;
  /** The events alternate between these projects. */
  projectIds: number[];
  perSecond: number;
  durationMs: number;
}

const stepMs = 50;

/**
 * Publishes the due events every 50 ms. A late step includes the events that became due in the meantime. Returns the
 * number of events.
 */
export async function publishEvents({
  brokers,
  topic,
  projectIds,
  perSecond,
  durationMs,
}: Publication): Promise<number> {
  const kafka = new Kafka({ brokers, clientId: 'millrace-bench', logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const startedAt = performance.now();
  let count = 0;
  for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - startedAt) {
    const messages: { key: string; value: string }[] = [];
    for (; count < Math.floor((elapsed / 1000) * perSecond); count += 1) {
      const event = storedEvent(count, projectIds[count % projectIds.length] ?? 0);
      messages.push({ key: processedEventKey(event), value: JSON.stringify(event) });
    }
    if (messages.length > 0) await producer.send({ topic, acks: -1, messages });
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
  await producer.disconnect();
  return count;
}

/** Returns an event of about 1 KB. */
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

type Properties = ProcessedEvent['properties'];
const properties = Array.from({ length: 100 }, (_, seed) => createFillerProperties(seed, 900) as Properties);
