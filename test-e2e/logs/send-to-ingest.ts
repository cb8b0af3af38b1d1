import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { PlantedMarks } from './planted-marks.ts';
import type { DebugServices } from './start-debug-services.ts';

const patienceMs = 6000;

/** Sends requests like those of SDKs and broken clients, with marks in the URL, the headers and the body. */
export async function sendToIngest({ ingestUrl, tenant }: DebugServices, marks: PlantedMarks): Promise<void> {
  const known = tenant.projectApiKey;
  const unknown = `phc_${marks.plant('an unknown project key')}`;
  const personal = `phx_${marks.plant('a personal key sent to the ingest host')}`;
  const event = (more: object = {}) => ({
    event: marks.plant('the name of an event'),
    distinct_id: `${marks.plant('an address as distinct id')}@example.com`,
    uuid: randomUUID(),
    properties: {
      secret: marks.plant('a property'),
      $set: { email: `${marks.plant('a property of a person')}@example.com` },
      $groups: { company: marks.plant('a group key') },
      $ip: '203.0.113.77',
    },
    ...more,
  });
  const identify = event({ event: '$identify' });
  const alias = { ...event({ event: '$create_alias' }) };
  Object.assign(alias.properties, { alias: `${marks.plant('an alias')}@example.com` });
  const group = { ...event({ event: '$groupidentify' }) };
  Object.assign(group.properties, {
    $group_type: 'company',
    $group_key: marks.plant('the key of a group that is told about'),
    $group_set: { name: marks.plant('a property of a group') },
  });
  const large = { ...event(), filler: 'x'.repeat(300_000) };
  const json = (value: unknown) => JSON.stringify(value);

  const bodies: [path: string, body: string | Buffer, headers?: Record<string, string>][] = [
    ['/capture/', json({ api_key: known, ...event() })],
    ['/batch/', json({ api_key: known, batch: [event(), identify, alias, group] })],
    ['/batch/', json({ api_key: known, historical_migration: true, batch: [event()] })],
    ['/i/v0/e/', gzipSync(json({ token: known, ...large })), { 'content-encoding': 'gzip' }],
    [
      '/i/v1/analytics/events',
      json({ batch: [event()], created_at: new Date() }),
      { authorization: `Bearer ${known}` },
    ],
    ['/i/v1/analytics/events', json({ batch: [event()] }), { authorization: `Bearer ${unknown}` }],
    ['/capture/', json({ api_key: unknown, ...event() })],
    ['/capture/', json({ api_key: personal, ...event() })],
    ['/capture/', json(event())],
    [`/capture/?api_key=${known}&${marks.plant('a query')}=1`, json(event({ event: null }))],
    ['/capture/', json({ api_key: known, ...event(), timestamp: marks.plant('a wrong timestamp') })],
    ['/capture/', json({ api_key: known, ...event(), properties: marks.plant('wrong properties') })],
    ['/capture/', json({ api_key: known, ...event(), distinct_id: { a: marks.plant('a wrong distinct id') } })],
    ['/batch/', json({ api_key: known, batch: [event(), marks.plant('a wrong event'), { event: '' }] })],
    ['/capture/', `{"api_key":"${known}","event":"${marks.plant('broken JSON')}"`],
    ['/capture/', `{"api_key":"${known}","filler":"${'x'.repeat(300_000)}","a":${marks.plant('large broken JSON')}}`],
    ['/capture/', marks.plant('no JSON at all')],
    ['/capture/', Buffer.from(marks.plant('no gzip')), { 'content-encoding': 'gzip' }],
    [
      '/e/',
      `data=${encodeURIComponent(marks.plant('a wrong form'))}`,
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    ['/flags/?v=2', json({ api_key: known, ...event() })],
    ['/flags/?v=2', json({ api_key: unknown, ...event() })],
    [`/nothing/${marks.plant('a path')}/`, json(event())],
  ];
  const data = Buffer.from(json({ api_key: known, ...event() })).toString('base64url');
  const reads = [`/array/${known}/config`, `/array/${unknown}/config`, `/array/${unknown}/%zz`, `/e/?data=${data}`];
  await Promise.all([
    ...bodies.map(([path, body, headers = {}]) =>
      sendIgnoringFailure(ingestUrl + path, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      }),
    ),
    ...reads.map((path) => sendIgnoringFailure(ingestUrl + path, {})),
  ]);
}

export async function sendIgnoringFailure(url: string, request: RequestInit): Promise<Response | null> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(patienceMs) });
    return response;
  } catch {
    return null;
  }
}
