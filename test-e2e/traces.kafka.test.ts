import { eventually, startServer, type TestServer } from '@millrace/testing';
import { waitUntilDrained } from './support/log-progress.ts';
import { type RunningServices, startServices } from './support/start-services.ts';

interface Span {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  links?: { traceId: string; spanId: string }[];
  attributes: { key: string; value: object }[];
}

interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<Span, 'service'>[] }[];
  }[];
}

/** An OpenTelemetry collector that stores received spans. */
let collector: TestServer;
let received: Span[];
let texts: string[];
let services: RunningServices;

const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${callerSpanId}-01`;

beforeAll(async () => {
  received = [];
  texts = [];
  collector = await startServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    texts.push(text);
    received.push(...spansOf(JSON.parse(text) as OtlpRequest));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  services = await startServices({
    eventLog: 'kafka',
    managementApi: false,
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRACE_SAMPLE_RATIO: '0',
      TRACE_TRUST_PARENT: 'true',
    },
  });
});
afterAll(async () => {
  await services?.stop();
  await collector?.stop();
});

function spansOf({ resourceSpans }: OtlpRequest): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}

const send = (event: string, headers: Record<string, string>) =>
  fetch(`${services.ingestUrl}/batch/`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      api_key: services.tenant.projectApiKey,
      batch: [{ event, properties: { distinct_id: 'secret-visitor', note: 'secret-note' } }],
    }),
  });

test('traces a request from its caller through the event log to the commit', async () => {
  expect((await send('secret-event', { traceparent })).status).toBe(200);
  await waitUntilDrained(services);
  const named = (name: string) => received.find((span) => span.name === name);
  const names = ['POST /batch', 'process an event', 'process a batch'];
  await eventually(() => names.every(named), {
    what: 'The spans of both services',
    describe: () => JSON.stringify(received.map(({ service, name }) => `${service}: ${name}`)),
  });

  const [request, event, batch] = names.map(named);
  expect(request).toMatchObject({ service: 'ingest-gateway', traceId, parentSpanId: callerSpanId });
  expect(request?.attributes.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['http.response.status_code', 'millrace.step.append.ms', 'messaging.batch.message_count']),
  );
  expect(event).toMatchObject({ service: 'event-consumer', traceId, parentSpanId: request?.spanId });
  expect(event?.links).toEqual([expect.objectContaining({ traceId: batch?.traceId, spanId: batch?.spanId })]);
  expect(batch?.traceId).not.toBe(traceId);
  expect(batch?.attributes.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['millrace.step.lock_offset.ms', 'millrace.step.commit.ms']),
  );
});

test('traces contain neither personal data nor sent values', () => {
  expect(texts.join()).not.toMatch(/secret-|phc_|127\.0\.0\.1/);
});

test.each([
  ['the gateway', 'millrace_capture_request_seconds', () => services.gateway],
  ['the consumer', 'millrace_consumer_batch_seconds', () => services.consumers[0]],
])('a histogram of %s has an exemplar with the trace ID', async (_name, histogram, process) => {
  const accept = { accept: 'application/openmetrics-text; version=1.0.0' };
  const response = await fetch(`http://127.0.0.1:${process()?.port}/metrics`, { headers: accept });
  expect(response.headers.get('content-type')).toMatch('application/openmetrics-text');
  expect(await response.text()).toMatch(new RegExp(`${histogram}_bucket\\{[^}]+\\} 1 # \\{trace_id="${traceId}"\\}`));
});

test('does not trace a request without the sampled flag', async () => {
  const before = received.length;
  expect((await send('plain', { traceparent: traceparent.replace(/01$/, '00') })).status).toBe(200);
  expect((await send('plain', {})).status).toBe(200);
  await waitUntilDrained(services);
  // The spans of the requests above would arrive before the spans of this last request, which is traced.
  const last = traceparent.replace(traceId, traceId.replace('0a', '1a'));
  expect((await send('last', { traceparent: last })).status).toBe(200);
  const since = (name: string) => received.slice(before).filter((span) => span.name === name);
  await eventually(() => since('process an event').length > 0 && since('POST /batch').length > 0, {
    what: 'The spans of the last event',
  });
  expect(since('POST /batch')).toHaveLength(1);
});
