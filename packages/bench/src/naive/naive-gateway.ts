/**
 * The gateway most teams would write first, kept as the yardstick of `pnpm bench gateway`: Express, `express.json`,
 * ajv, and one `producer.send` per request with acks from all replicas, every library with its defaults. It does less
 * than the real one: its key check is a comparison, it knows no compression, no clock correction, no lanes and no limits.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { environment } from '@millrace/runtime';
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

const eventFields = {
  event: { type: 'string' },
  distinct_id: { type: 'string' },
  uuid: { type: 'string' },
  timestamp: { type: 'string' },
  properties: { type: 'object' },
};
const eventSchema = { type: 'object', required: ['event', 'distinct_id'], properties: eventFields };
const captureSchema = {
  type: 'object',
  required: ['api_key', 'event', 'distinct_id'],
  properties: { api_key: { type: 'string' }, ...eventFields },
};
const batchSchema = {
  type: 'object',
  required: ['api_key', 'batch'],
  properties: { api_key: { type: 'string' }, batch: { type: 'array', items: eventSchema } },
};

const env = environment();
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
app.post('/capture/', async (request, response) => {
  const body: unknown = request.body;
  if (!isCapture(body)) return void response.status(400).json({ detail: ajv.errorsText(isCapture.errors) });
  if (body.api_key !== projectApiKey) return void response.status(401).json({ detail: 'unknown key' });
  await publish([body], body.api_key, request.ip ?? null);
  response.json({ status: 'Ok' });
});
app.post('/batch/', async (request, response) => {
  const body: unknown = request.body;
  if (!isBatch(body)) return void response.status(400).json({ detail: ajv.errorsText(isBatch.errors) });
  if (body.api_key !== projectApiKey) return void response.status(401).json({ detail: 'unknown key' });
  await publish(body.batch, body.api_key, request.ip ?? null);
  response.json({ status: 'Ok' });
});

await producer.connect();
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'listening', port: (server.address() as AddressInfo).port });
});
process.on('SIGTERM', () => {
  server.close();
  void producer.disconnect().finally(() => process.exit(0));
});
