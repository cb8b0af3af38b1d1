import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
});
afterAll(() => console?.stop());

/** Stores an event. @param ago the age of the event, as a PostgreSQL interval */
async function store(event: string, ago: string, { distinctId = 'ada', properties = {} } = {}): Promise<string> {
  const uuid = randomUUID();
  await console.query(
    `WITH known AS (INSERT INTO event_identity (project_id, uuid, timestamp)
                    VALUES ($1, '${uuid}', date_trunc('milliseconds', now() - interval '${ago}')) RETURNING timestamp)
     INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT $1, timestamp, '${uuid}', '${event}', '${distinctId}', '${randomUUID()}', '${JSON.stringify(properties)}', now()
       FROM known`,
  );
  return uuid;
}

interface Streamed {
  uuid?: string | null;
  event?: string | null;
  secondsAgo?: number;
  outcome?: string;
  [more: string]: unknown;
}

const frame = ({ secondsAgo = 0, ...more }: Streamed) => {
  const timestamp = new Date(Date.now() - secondsAgo * 1000).toISOString();
  const usual = { uuid: randomUUID(), distinct_id: 'ada', person_id: null, properties: {}, outcome: 'stored' };
  return `data: ${JSON.stringify({ ...usual, timestamp, stored_at: timestamp, ...more })}\n\n`;
};

/** Opens a page whose stream sends the given messages once, and then nothing else. */
async function openWith(messages: () => string[], path = 'live'): Promise<Page> {
  const hello = 'event: hello\ndata: {"stored":true,"why":null,"lag_seconds":0}\n\n';
  const pieces = [hello + messages().join('')];
  return console.open(path, {
    prepare: async (visitor) => {
      await visitor.route(/\/live\/events/, (route) => {
        const body = pieces.shift();
        return body === undefined ? undefined : route.fulfill({ contentType: 'text/event-stream', body });
      });
    },
  });
}

const options = (page: Page) => page.getByRole('option');
const namesOf = (page: Page) => page.locator('.live-space .live-name').allTextContents();

it('lists the latest events first, sorted and without duplicates, when the Live page opens', async () => {
  const known = await store('signed up', '3 min');
  await store('order placed', '2 min');
  await store('from tomorrow', '-16 hours');
  const page = await openWith(() => [
    frame({ event: 'now', secondsAgo: 1 }),
    frame({ event: 'signed up', uuid: known, secondsAgo: 180 }),
    frame({ event: 'between', secondsAgo: 150 }),
  ]);
  const all = ['now', 'order placed', 'between', 'signed up'];
  await eventually(async () => expect(await namesOf(page)).toEqual(all));
  expect(await runAxe(page)).toEqual([]);
  await page.context().close();

  const filtered = await openWith(() => [], `live?event=${encodeURIComponent('["order placed","now"]')}`);
  await eventually(async () => expect(await namesOf(filtered)).toEqual(['order placed']));
  await filtered.context().close();
  const without = await openWith(() => [], `live?without=${encodeURIComponent('["order placed"]')}`);
  await eventually(async () => expect(await namesOf(without)).toEqual(['signed up']));
  await without.context().close();
});

it('reports a failure to load the latest events, and still shows the stream', async () => {
  const page = await console.open('live', {
    prepare: async (visitor) => {
      await visitor.route(/\/api\/projects\/\d+\/events\?/, (route) =>
        route.fulfill({ status: 400, json: { detail: 'Because of a test.' } }),
      );
      await visitor.route(/\/live\/events/, (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: frame({ event: 'streamed' }) }),
      );
    },
  });
  await page.getByText('Earlier events could not be loaded. Because of a test.').waitFor();
  await options(page).filter({ hasText: 'streamed' }).first().waitFor();
  await page.context().close();
});

it('filters live events by a substring of the name, and handles shortcuts while the list is not focused', async () => {
  const page = await openWith(() => [frame({ event: 'shelf seen' }), frame({ event: 'search' })]);
  await options(page).filter({ hasText: 'shelf seen' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('SHELF');
  await eventually(async () => expect(await namesOf(page)).toEqual(['shelf seen']));
  await page.keyboard.press('Enter');
  expect(await page.locator('.chip').count()).toBe(0);
  const search = page.getByRole('searchbox', { name: 'Event name' });
  await search.fill('order placed');
  await search.press('Enter');
  await page.locator('.chip').filter({ hasText: 'order placed' }).waitFor();
  expect(await search.inputValue()).toBe('');
  await page.getByRole('button', { name: 'Remove event order placed' }).click();
  await options(page).filter({ hasText: 'order placed' }).waitFor();

  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: /^Continue/ }).waitFor();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: /^Pause/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: /./ }).getByRole('heading').first().waitFor();
  expect(new URL(page.url()).searchParams.get('open')).not.toBeNull();
  await page.keyboard.press('Escape');
  await eventually(() => expect(new URL(page.url()).searchParams.get('open')).toBeNull());
  await page.context().close();
});

it("shows a dropped event's content and library", async () => {
  const details = {
    ...{ path: '/e', origin: 'https://shop.example.com', user_agent: 'posthog-python/6.7.6' },
    samples: [{ index: 0, uuid: null, event: null }],
  };
  const dropped = { reason: 'missing_event_name', detail: 'The event has no name.', severity: 'error', details };
  const page = await openWith(() => [
    frame({ uuid: null, event: null, distinct_id: null, outcome: 'dropped', stored_at: undefined, ...dropped }),
  ]);
  await options(page).filter({ hasText: '(no name)' }).click();
  const detail = page.getByRole('region', { name: '(no name)' });
  for (const [name, value] of [
    ['sent from', 'https://shop.example.com'],
    ['user agent', 'posthog-python/6.7.6'],
    ['position in the request', '0'],
  ] as const)
    await detail.locator(`div:has(> dt:text-is("${name}"))`).getByText(value).waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.context().close();
});

it('hides the reasons for dropped events if no events were dropped', async () => {
  const health = { ...(await console.api<object>('GET', 'health')), checked_at: new Date().toISOString() };
  const per_minute = { stored: 0, dropped: [{ reason: 'missing_event_name', count: 0 }] };
  const page = await openWith(() => [frame({ event: 'one' })]);
  await page.route(/\/health$/, (route) => route.fulfill({ json: { ...health, per_minute } }));
  await page.reload();
  const tile = page.locator('.tile').filter({ hasText: 'Dropped in the last minute' });
  await tile.getByText('0', { exact: true }).waitFor();
  expect(await tile.textContent()).not.toContain('Missing event name');
  await page.context().close();
});
