import type { IncomingMessage } from 'node:http';
import type { Tracing } from '@millrace/runtime/tracing';
import { beginTrace, untracedHeaders } from './request-trace.ts';

const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const unsampled = sampled.replace(/01$/, '00');
const request = (traceparent?: string) => ({ method: 'POST', headers: { traceparent } }) as unknown as IncomingMessage;

/** Chooses what it is asked for. */
const tracing = (trustsParent: boolean): Tracing => ({
  trustsParent,
  choose: (isAsked) => isAsked,
  start: () => ({
    context: { traceId: 't', spanId: 's', traceFlags: 1 },
    traceparent: 'own',
    set: () => {},
    end: () => {},
  }),
  stop: async () => {},
});

test.each([
  ['is traced when its caller is trusted', true, sampled, true],
  ['is not when its caller is a stranger', false, sampled, false],
  ['is not when a trusted caller says no', true, unsampled, false],
  ['is not when the header is no trace', true, 'nonsense', false],
])('a request %s', (_, trustsParent, traceparent, isTraced) => {
  expect(beginTrace(tracing(trustsParent), request(traceparent), '/batch') !== null).toBe(isTraced);
});

test('one span tells of the whole request, what the log took too, and its records name it', async () => {
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

  const headers = trace?.appending(7);
  trace?.end({ status: 503, code: 'unavailable', environmentId: 4 });
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
  ['without tracing they are handed on', null, sampled, { traceparent: sampled }],
  ['with tracing they say that it is not traced', tracing(false), sampled, { traceparent: unsampled }],
  ['what is no trace is left out', null, 'nonsense', undefined],
  ['nor is there a header where none was sent', tracing(false), undefined, undefined],
])('headers of the records of a request that is not traced: %s', (_, given, traceparent, expected) => {
  expect(untracedHeaders(request(traceparent), given)).toEqual(expected);
});
