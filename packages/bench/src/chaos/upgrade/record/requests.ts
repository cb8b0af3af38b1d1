import { eventually } from '@millrace/testing';

/** One request as an SDK sends it. */
interface RecordedRequest {
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

const uuid = (number: number) => `0199aaaa-0000-7000-8000-${String(number).padStart(12, '0')}`;
/** Of all that clients say themselves. */
export const fixedDay = '2026-11-20';
const at = (minute: number) => `${fixedDay}T12:${String(minute).padStart(2, '0')}:00.000Z`;
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0', 'x-forwarded-for': '203.0.113.7' };

/**
 * Requests that lead to every kind of record a gateway writes, and of row a consumer does. Times and uuids are fixed, so that two
 * releases are compared field by field.
 */
function recordedRequests(token: string): RecordedRequest[] {
  let number = 0;
  const event = (name: string, distinctId: string, properties: object = {}, more: object = {}) => {
    number += 1;
    return {
      uuid: uuid(number),
      event: name,
      distinct_id: distinctId,
      timestamp: at(number % 60),
      properties,
      ...more,
    };
  };
  const batch = (events: unknown[], more: object = {}, headers: Record<string, string> = {}): RecordedRequest => ({
    ...{ path: '/batch/', headers: { ...browser, ...headers }, body: { api_key: token, batch: events, ...more } },
  });
  return [
    { path: '/capture/', headers: browser, body: { api_key: token, ...event('signed up', 'anna', { plan: 'free' }) } },
    {
      path: '/e/',
      headers: browser,
      body: [event('viewed', 'anna', { token, $current_url: 'https://a.example/ü?q=1' })],
    },
    batch([
      event('$identify', 'anna@example.com', {
        $anon_distinct_id: 'anna',
        $set: { name: 'Anna' },
        $set_once: { first: 1 },
      }),
      event('$create_alias', 'anna@example.com', { alias: 'anna-phone' }),
      event('$set', 'anna@example.com', { $set: { plan: 'pro', deep: { a: [1, null, 'x'] } }, $unset: ['name'] }),
      event('bought', 'anna-phone', {
        $groups: { company: 'acme', team: 'red' },
        price: 12.5,
        big: 2 ** 60,
      }),
    ]),
    batch([
      event('$groupidentify', 'anna@example.com', {
        $group_type: 'company',
        $group_key: 'acme',
        $group_set: { size: 7 },
      }),
      event('level', 'bert', {}, { $set: { at: 'event' }, $set_once: { once: true } }),
      event('nobody', 'visitor-1', { $process_person_profile: false }),
      event('$autocapture', 'bert', { $elements_chain: 'a.b:nth-child="1"', text: 'emoji 😀 and 日本' }),
      event('$feature_flag_called', 'bert', { $feature_flag: 'beta', $feature_flag_response: true }),
      event('$merge_dangerously', 'bert', { alias: 'anna' }),
    ]),
    batch([
      event('cookieless', '$posthog_cookieless', { $cookieless_mode: true, $host: 'a.example', $raw_user_agent: 'x' }),
    ]),
    batch([event('imported', 'carl', { old: true }), event('imported', 'anna', { old: true })], {
      historical_migration: true,
    }),
    batch([event('late', 'dora'), event('late', 'dora')], { sent_at: at(59) }),
    // What is dropped or mended is told to the project.
    batch([{ event: 'nameless', properties: {} }, { distinct_id: 'x', properties: {} }, 7, event('kept', 'emil')]),
    batch([
      { ...event('future', 'emil'), timestamp: '2199-01-01T00:00:00Z' },
      { ...event('odd time', 'emil'), timestamp: 'soon' },
    ]),
    batch([event('long', 'e'.repeat(300)), event('n'.repeat(220), 'emil')]),
    {
      path: '/i/v1/analytics/events',
      headers: {
        ...browser,
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json', 'posthog-attempt': '1' },
        ...{ 'posthog-sdk-info': 'recorder/1.0.0', 'posthog-request-id': uuid(900) },
        'posthog-request-timestamp': at(30),
      },
      body: { created_at: at(30), batch: [{ ...event('v1', 'fred', { total: 42 }), options: {} }] },
    },
  ];
}

/** @returns the statuses of the answers, in their order. */
export async function sendRecordedRequests(port: number, token: string): Promise<number[]> {
  // Without a store that answers in time a gateway takes events of a key it has never seen, and does not say whose it is.
  await eventually(async () => (await send(port, { path: '/flags/?v=2', headers: {}, body: asked(token) })) === 200, {
    what: 'A gateway that knows the key',
  });
  const statuses: number[] = [];
  for (const request of recordedRequests(token)) statuses.push(await send(port, request));
  return statuses;
}

const asked = (token: string) => ({ api_key: token, distinct_id: 'anna' });

async function send(port: number, { path, headers, body }: RecordedRequest): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}
