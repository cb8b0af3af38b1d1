import type { IncomingMessage } from 'node:http';
import type { Tracing } from '@millrace/runtime/tracing';
import { beginTrace } from './serve-request.ts';

const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const unsampled = sampled.replace(/01$/, '00');
const request = (traceparent?: string) => ({ method: 'POST', headers: { traceparent } }) as unknown as IncomingMessage;

/** Traces a request if and only if the caller requests it. */
const tracing = (trustsParent: boolean): Tracing => ({
  trustsParent,
  shouldTrace: (isRequested) => isRequested,
  start: () => ({
    context: { traceId: 't', spanId: 's', traceFlags: 1 },
    traceparent: 'own',
    set: () => {},
    end: () => {},
  }),
  stop: async () => {},
});

test.each([
  ['is traced if a trusted client samples it', true, sampled, true],
  ['is not traced if clients are not trusted', false, sampled, false],
  ['is not traced if a trusted client does not sample it', true, unsampled, false],
  ['is not traced if the header is invalid', true, 'nonsense', false],
])('a request %s', (_, trustsParent, traceparent, isTraced) => {
  expect(beginTrace(tracing(trustsParent), request(traceparent), '/batch').traceId !== null).toBe(isTraced);
});

test('creates one span per request, with the duration of the append, and adds its trace to the records', async () => {
  const spans: object[] = [];
  let attributes = {};
  const start: Tracing['start'] = (name, { attributes: given }) => ({
    ...tracing(true).start(name, { kind: 'server' }),
    set: (more) => {
      attributes = { ...given, ...attributes, ...more };
    },
    end: (outcome) => void spans.push({ name, attributes, ...outcome }),
  });
  const trace = beginTrace({ ...tracing(true), start }, request(sampled), '/batch');

  const headers = trace.appending(7);
  trace.end({ status: 503, code: 'unavailable', environmentId: 4 });
  expect(headers).toEqual({ traceparent: 'own' });
  expect(spans).toEqual([
    {
      name: 'POST /batch',
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/batch',
        'http.response.status_code': 503,
        'millrace.environment_id': 4,
        'error.type': 'unavailable',
        'messaging.batch.message_count': 7,
        'millrace.step.append.ms': expect.any(Number),
      },
      failure: 'unavailable',
    },
  ]);
});

test.each([
  ['are copied if tracing is off', null, sampled, { traceparent: sampled }],
  ['are marked as not sampled if tracing is on', tracing(false), sampled, { traceparent: unsampled }],
  ['are missing if the header is invalid', null, 'nonsense', undefined],
  ['are missing if the client sent none', tracing(false), undefined, undefined],
])('the trace headers in the records of an untraced request %s', (_, given, traceparent, expected) => {
  expect(beginTrace(given, request(traceparent), '/batch').appending(1)).toEqual(expected);
});
