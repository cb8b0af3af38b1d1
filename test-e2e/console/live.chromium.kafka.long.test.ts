import { type BuiltDirectory, eventually } from '@millrace/testing';
import { builtConsole } from '@millrace/testing/built-console';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { post } from '../support/post.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

/** Tests the Live page with the running system: how the stream changes an open page. */
let built: BuiltDirectory;
let services: RunningServices;
let browser: Browser;
let visitor: BrowserContext;
/** Open streams, each with the page that reads it. */
let streams: Map<Request, Page>;

beforeAll(async () => {
  built = await builtConsole();
  const settings = { CONSOLE_DIRECTORY: built.directory, PUBLISH_PROCESSED: 'on' };
  services = await startServices({ eventLog: 'postgres', settings });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await services?.stop();
  await built?.remove();
});
beforeEach(async () => {
  const extraHTTPHeaders = { authorization: `Bearer ${services.tenant.personalApiKey}` };
  visitor = await browser.newContext({ viewport: { width: 1280, height: 800 }, extraHTTPHeaders });
  streams = new Map();
  const isStream = (request: Request) => request.url().includes('/live/events');
  visitor.on('request', (request) => {
    if (isStream(request)) streams.set(request, request.frame().page());
  });
  visitor.on('requestfinished', (request) => streams.delete(request));
  visitor.on('requestfailed', (request) => streams.delete(request));
});
afterEach(() => visitor.close());

const address = (page: string) => `${services.apiUrl}/console/projects/${services.tenant.projectId}/${page}`;
const openStreams = () => [...streams.values()].filter((page) => !page.isClosed()).length;
const send = (event: string, more: object = {}) =>
  post(`${services.ingestUrl}/capture/`, {
    ...{ api_key: services.tenant.projectApiKey, event, distinct_id: 'ada', properties: {}, ...more },
  });
const rowOf = (page: Page, event: string) => page.getByRole('option').filter({ hasText: event });

/** Opens Live and waits until the page is connected to its stream. From then on, the page shows all events. */
async function openLive(query = '', probe = `probe ${Math.random()}`): Promise<Page> {
  const page = await visitor.newPage();
  await page.goto(address(`live${query}`));
  await eventually(
    async () => {
      await send(probe);
      expect(await rowOf(page, probe).count()).toBeGreaterThan(0);
    },
    { what: 'the stream' },
  );
  return page;
}

test('console-004 keeps the open row in the URL, so that a copied URL opens the same event', async () => {
  const page = await openLive();
  await send('order placed', { properties: { total: 42 } });
  await rowOf(page, 'order placed').first().click();
  await page.getByRole('heading', { name: 'order placed' }).waitFor();
  expect(new URL(page.url()).searchParams.get('open')).toMatch(/^[0-9a-f-]{36}$/);
  const copied = await visitor.newPage();
  await copied.goto(page.url());
  await copied.getByRole('heading', { name: 'order placed' }).waitFor();
  await copied.getByText('total', { exact: true }).waitFor();
  // Selecting a different row does not add a history entry.
  await page.getByRole('listbox').focus();
  await page.keyboard.press('j');
  await page.waitForURL((url) => url.href !== copied.url());
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has('open'));
  await page.getByRole('heading', { name: 'order placed' }).waitFor({ state: 'detached' });
});

test('console-010 counts 500 new events on the button while paused, and then shows the newest on top', async () => {
  const event = (at: number) => {
    const uuid = `01a208ec-77f1-7c02-b1e4-${String(at).padStart(12, '0')}`;
    const message = { uuid, event: `number ${at}`, distinct_id: 'ada', properties: {}, outcome: 'stored' };
    return `data: ${JSON.stringify({ ...message, person_id: null, timestamp: new Date().toISOString() })}\n\n`;
  };
  const pieces = [event(0)];
  await visitor.route(/\/live\/events/, (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: pieces.shift() ?? ': nothing\n\n' }),
  );
  const page = await visitor.newPage();
  await page.goto(address('live'));
  await rowOf(page, 'number 0').waitFor();
  // For screen readers, the active row remains the same until it is no longer rendered.
  const list = page.getByRole('listbox');
  const pointedTo = async () => {
    const id = await list.getAttribute('aria-activedescendant');
    return id === null ? null : page.locator(`[id="${id}"]`).textContent();
  };
  await list.focus();
  await page.keyboard.press('j');
  expect(await pointedTo()).toContain('number 0');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Pause/ }).click();
  await page.getByRole('button', { name: /^Continue/ }).waitFor();
  pieces.push(Array.from({ length: 500 }, (_, at) => event(at + 1)).join(''));
  await page.getByRole('button', { name: /^Continue · 500 new/ }).waitFor();
  expect(await rowOf(page, 'number 500').count()).toBe(0);
  await page.getByRole('button', { name: /^Continue/ }).click();
  await rowOf(page, 'number 500').waitFor();
  expect(await page.getByRole('option').first().textContent()).toContain('number 500');
  expect(await pointedTo()).toBeNull();
  await list.focus();
  await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
  await rowOf(page, 'number 0').waitFor();
  expect(await pointedTo()).toContain('number 0');
  await page.getByRole('button', { name: /^Pause/ }).waitFor();
});

test("updates the last minute's statistics from the stream, without another request", async () => {
  const page = await openLive();
  const stored = page.getByRole('region', { name: 'Live statistics' }).locator('.tile-figure').first();
  const figure = async () => Number((await stored.textContent())?.replaceAll(',', ''));
  await eventually(async () => expect(await figure()).toBeGreaterThan(0));
  await visitor.route(/\/health$/, () => {});
  const before = await figure();
  await send('one more');
  await rowOf(page, 'one more').first().waitFor();
  await eventually(async () => expect(await figure()).toBeGreaterThan(before));
});

test('console-040 announces new events occasionally in one sentence instead of row by row', async () => {
  const page = await openLive();
  await page
    .locator('[role=log]')
    .filter({ hasText: /^\d+ new events?$/ })
    .waitFor({ state: 'attached' });
  expect(await page.locator('[role=log]').getAttribute('aria-live')).toBe('polite');
});

test("console-019 closes a hidden tab's stream after a minute, and says so when the tab becomes visible", async () => {
  await visitor.clock.install();
  const page = await openLive();
  const hide = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await hide(true);
  await visitor.clock.runFor(50_000);
  expect(openStreams()).toBe(1);
  await visitor.clock.runFor(15_000);
  await eventually(() => expect(openStreams()).toBe(0));
  const stream = await fetch(`${services.apiUrl}/api/projects/${services.tenant.projectId}/live/events`, {
    headers: { authorization: `Bearer ${services.tenant.personalApiKey}` },
  });
  await send('meanwhile');
  // Wait for the event in the stream, because it may be stored shortly before it appears there.
  let streamed = '';
  for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    streamed += chunk;
    if (streamed.includes('"meanwhile"')) break;
  }
  await hide(false);
  await eventually(() => expect(openStreams()).toBe(1));
  await page.getByText('Events that arrived while this tab was hidden').waitFor();
  await eventually(async () => {
    await visitor.clock.runFor(500);
    await send('afterwards');
    expect(await rowOf(page, 'afterwards').count()).toBeGreaterThan(0);
  });
  expect(await rowOf(page, 'meanwhile').count()).toBe(0);
});

test('console-049 shares a stream between tabs with the same view, and leaves connections for other requests', async () => {
  const first = await openLive();
  const second = await openLive();
  expect(openStreams()).toBe(1);
  await first.close();
  await eventually(async () => {
    await send('for whoever is left');
    expect(await rowOf(second, 'for whoever is left').count()).toBeGreaterThan(0);
  });
  expect(openStreams()).toBe(1);
  for (let at = 0; at < 6; at += 1) {
    const other = await visitor.newPage();
    await other.goto(address(`live?person=unknown-${at}`));
    await other.getByText('No matching events yet').waitFor();
    if (at > 3) await other.getByText('Live events are already open in four other tabs').waitFor();
  }
  expect(openStreams()).toBe(4);
  const events = await visitor.newPage();
  await events.goto(address('events'));
  await events.getByRole('row').nth(1).waitFor();
});
