import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import type { ReceivedEvent } from '../support/scripted-ingest.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  const shelf = '<p id="shelf" title="Before" data-ph-capture-attribute-place="before"';
  lab = await startLab({ body: `${shelf}><button id="act" class="before">Before</button></p>` });
});
afterAll(() => lab.stop());
beforeEach(() => lab.ingest.clear());

/** Opens a shop in which each click runs the given script. The library handles a click before the script does. */
async function open(onClick: string): Promise<Page> {
  const { page } = await lab.visit({
    options: { autocapture: true, rageclick: false, capture_pageleave: false, flushAt: 20 },
  });
  await page.evaluate(`
    window.heard = [];
    posthog.on('eventCaptured', ({ event }) => heard.push(event));
    act.addEventListener('click', () => { ${onClick} });
  `);
  // Autocapture begins when the page has received the settings.
  await eventually(async () => {
    await page.evaluate(
      'document.body.append(other = document.createElement("button")), other.click(), other.remove()',
    );
    expect(await page.evaluate('posthog.get_session_id(), heard.splice(0).length')).toBeGreaterThan(0);
  });
  return page;
}

const received = (names: string[]) =>
  eventually(() => {
    const events = lab.ingest.events().filter(({ properties }) => properties.$el_text !== undefined || properties.own);
    expect(events.map(({ event }) => event)).toEqual(names);
    return events as [ReceivedEvent, ...ReceivedEvent[]];
  });

test('captures a click with the page as it was before the click handler changed it', async () => {
  const page = await open(`
    history.pushState(null, '', '/basket');
    act.textContent = 'After';
    act.className = 'after';
    shelf.title = shelf.dataset.phCaptureAttributePlace = 'After';
    shelf.before(document.createElement('p'));
  `);
  await page.evaluate('act.click(); posthog.flush()');
  const [{ properties }] = await received(['$autocapture']);
  expect(properties).toMatchObject({ $el_text: 'Before', $pathname: '/shop', place: 'before' });
  expect(properties.$current_url).toBe(`${lab.site.url}/shop`);
  expect(properties.$elements_chain).toContain('button.before:');
  expect(properties.$elements_chain).toMatch(/;p:.*attr__title="Before".*nth-child="1"nth-of-type="1"/);
  await page.context().close();
});

test.each([
  ['identifies', `posthog.identify('ada')`],
  ['resets', 'posthog.reset()'],
])('assigns a click to the visitor who clicked, even if the page %s', async (_, act) => {
  const page = await open(act);
  const before = await page.evaluate('posthog.get_distinct_id()');
  await page.evaluate('act.click(); posthog.flush()');
  const [{ properties }] = await received(['$autocapture']);
  expect(properties.distinct_id).toBe(before);
  expect(await page.evaluate('posthog.get_distinct_id()')).not.toBe(before);
  await page.context().close();
});

test('captures a click before the events of its handler, without the properties that the handler registers', async () => {
  const page = await open(`posthog.register({ shelf: 'lower' }); posthog.capture('bought', { own: true });`);
  await page.evaluate('act.click(); posthog.flush()');
  const [click, bought] = await received(['$autocapture', 'bought']);
  expect([click.properties.shelf, bought?.properties.shelf]).toEqual([undefined, 'lower']);
  // Compare only the times in the IDs. The order of IDs from the same millisecond is random.
  expect(click.uuid.slice(0, 13) <= String(bought?.uuid).slice(0, 13)).toBe(true);
  expect(click.timestamp <= String(bought?.timestamp)).toBe(true);
  await page.context().close();
});

test('sends a click even if its handler opens another page', async () => {
  const page = await open(`location.assign('about:blank')`);
  await page.evaluate('act.click()');
  await received(['$autocapture']);
  await page.context().close();
});

test('sends a click even if its handler hides the page', async () => {
  const page = await open(`
    Object.defineProperty(document, 'hidden', { value: true });
    document.dispatchEvent(new Event('visibilitychange'));
    heard.push('hidden');
  `);
  await page.evaluate('act.click()');
  await received(['$autocapture']);
  expect(await page.evaluate('heard')).toEqual(['$autocapture', 'hidden']);
  await page.context().close();
});

test('captures many clicks that occur in one task, in order', async () => {
  const page = await open('');
  await page.evaluate('for (let n = 0; n < 50; n += 1) { act.textContent = "Buy " + n; act.click(); }');
  const events = await received(Array.from({ length: 50 }, () => '$autocapture'));
  expect(events.map(({ properties }) => properties.$el_text)).toEqual(Array.from({ length: 50 }, (_, n) => `Buy ${n}`));
  await page.context().close();
});
