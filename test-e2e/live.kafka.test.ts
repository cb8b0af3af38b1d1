import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import { post } from './support/post.ts';
import { eventLogs, type RunningServices, startServices } from './support/start-services.ts';

/** Tests that the live stream shows the stored events when the entire system is running. */
describe.each(eventLogs)('the live stream with the %s event log', (eventLog) => {
  let services: RunningServices;
  const leaving = new AbortController();
  beforeAll(async () => {
    services = await startServices({ eventLog, settings: { PUBLISH_PROCESSED: 'on' } });
  });
  afterAll(async () => {
    leaving.abort();
    await services?.stop();
  });

  test('live-013, live-014, live-043: the stream shows the merged person, the corrected timestamp and dropped events', async () => {
    const { tenant, ingestUrl, apiUrl } = services;
    const headers = { authorization: `Bearer ${tenant.personalApiKey}` };
    const base = `${apiUrl}/api/projects/${tenant.projectId}`;
    // Retry, because the stream can start only after the consumer has created the topics.
    const stream = await eventually(async () => {
      const response = await fetch(`${base}/live/events`, { headers, signal: leaving.signal });
      return response.status === 200 && response;
    });
    const messages: Record<string, unknown>[] = [];
    void follow(stream, messages);

    const [ada, visitor] = [`ada-${randomUUID()}`, `visitor-${randomUUID()}`];
    const send = (events: object[], more: object = {}) =>
      post(`${ingestUrl}/batch/`, { api_key: tenant.token, batch: events, ...more });
    await send([{ event: 'before', distinct_id: visitor, uuid: randomUUID() }]);
    await send([{ event: '$identify', distinct_id: ada, properties: { $anon_distinct_id: visitor } }]);
    const found = (name: string) => messages.find(({ event }) => event === name);
    await eventually(() => found('$identify') !== undefined);
    // The client's clock is one hour ahead. Millrace corrects the timestamp with the request's `sent_at`.
    const fast = new Date(Date.now() + 3_600_000).toISOString();
    await send([{ event: 'after', distinct_id: visitor, timestamp: fast }, { event: 'lost' }], { sent_at: fast });
    await eventually(() => found('after') !== undefined && found('lost') !== undefined);

    const read = async (path: string) =>
      ((await (await fetch(base + path, { headers })).json()) as { results: Record<string, string>[] }).results;
    const [person] = await read(`/persons/?distinct_id=${ada}`);
    const [stored] = await read('/events/?event=after');
    expect(found('after')).toMatchObject({ outcome: 'stored', person_id: person?.uuid, uuid: stored?.id });
    expect(Date.parse(String(found('after')?.timestamp))).toBe(Date.parse(String(stored?.timestamp)));
    expect(found('lost')).toMatchObject({ outcome: 'dropped', reason: 'missing_distinct_id', person_id: null });
  });
});

async function follow(stream: Response, messages: Record<string, unknown>[]): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream.body ?? []) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) if (frame.startsWith('data: ')) messages.push(JSON.parse(frame.slice(6)));
    }
  } catch {
    // The stream breaks when the test ends, so ignore the error.
  }
}
