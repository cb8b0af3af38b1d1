/**
 * The gateway with which `npm run bench -- gateway` compares Millrace's gateway. It is what most teams would write
 * first: Express, `express.json`, ajv, and one `producer.send` per request with acks from all replicas, all with
 * default settings. It does less than Millrace's gateway: it only compares the key with a constant, and has no
 * compression, clock correction or limits, and no separate topics for different kinds of events.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { readEnvironment } from '@millrace/runtime';
import { Ajv } from 'ajv';
import express from 'express';
import { Kafka, logLevel } from 'kafkajs';

interface NaiveEvent {
  event: string;
  distinct_id: string;
  uuid?: string;
  timestamp?: string;
  properties?: object;
}

const text = { type: 'string' };
const eventFields = { event: text, distinct_id: text, uuid: text, timestamp: text, properties: { type: 'object' } };
const required = ['event', 'distinct_id'];
const captureSchema = {
  type: 'object',
  required: ['api_key', ...required],
  properties: { api_key: text, ...eventFields },
};
const batch = { type: 'array', items: { type: 'object', required, properties: eventFields } };
const batchSchema = { type: 'object', required: ['api_key', 'batch'], properties: { api_key: text, batch } };

const env = readEnvironment();
const topic = env.NAIVE_TOPIC ?? '';
const projectApiKey = env.NAIVE_PROJECT_API_KEY ?? '';

const ajv = new Ajv();
const isCapture = ajv.compile<NaiveEvent & { api_key: string }>(captureSchema);
const isBatch = ajv.compile<{ api_key: string; batch: NaiveEvent[] }>(batchSchema);

const kafka = new Kafka({ brokers: (env.KAFKA_BROKERS ?? '').split(','), logLevel: logLevel.WARN });
const producer = kafka.producer();

async function publish(events: NaiveEvent[], token: string, ip: string | null): Promise<void> {
  const now = new Date().toISOString();
  await producer.send({
    topic,
    acks: -1,
    messages: events.map(({ event, distinct_id, uuid, timestamp, properties }) => ({
      key: `${token}:${distinct_id}`,
      value: JSON.stringify({
        kind: 'event',
        uuid: uuid ?? randomUUID(),
        token,
        distinct_id,
        event,
        timestamp: timestamp ?? now,
        now,
        ip,
        properties: properties ?? {},
      }),
    })),
  });
}

const app = express();
app.use(express.json({ limit: '20mb' }));
/** Registers a route that accepts the events of a valid body. `eventsOf` returns null if the body is invalid. */
function accept(path: string, eventsOf: (body: unknown) => NaiveEvent[] | null) {
  app.post(path, async (request, response) => {
    const events = eventsOf(request.body);
    if (events === null) return void response.status(400).json({ detail: 'invalid body' });
    if (request.body.api_key !== projectApiKey) return void response.status(401).json({ detail: 'unknown key' });
    await publish(events, projectApiKey, request.ip ?? null);
    response.json({ status: 'Ok' });
  });
}
accept('/capture/', (body) => (isCapture(body) ? [body] : null));
accept('/batch/', (body) => (isBatch(body) ? body.batch : null));

await producer.connect();
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'listening', port: (server.address() as AddressInfo).port });
});
process.on('SIGTERM', () => {
  server.close();
  void producer.disconnect().finally(() => process.exit(0));
});
