import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { openPage, type Visit } from '../support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';
import { createVisitors, type Visitors } from '../support/visitors.ts';

declare const posthog: import('../../src/index.ts').Client;

/** On a page that is broken or tries to break scripts, the library must not throw, and must still capture the click. */
describe('autocapture on a hostile page', () => {
  let browser: Browser;
  let ingest: ScriptedIngest;
  let site: TestServer;
  let visitors: Visitors;
  let visit: Visit;

  beforeAll(async () => {
    [browser, ingest, site] = await Promise.all([
      launchChromium(),
      startScriptedIngest(),
      startSite({ body: '<main></main>' }),
    ]);
    visitors = createVisitors(browser);
  });
  beforeEach(async () => {
    ingest.clear();
    visit = await openPage(await visitors.next(), site.url);
    const { page } = visit;
    await visitors.forget(page);
    await page.waitForFunction('window.posthog');
    const options = {
      api_host: ingest.url,
      opt_out_useragent_filter: true,
      capture_pageview: false,
      feature_flag_request_timeout_ms: patienceMs,
      rate_limiting: { events_per_second: 100_000, events_burst_limit: 1_000_000 },
    };
    await page.evaluate(`posthog.init('phc_test', ${JSON.stringify(options)})`);
    await eventually(() =>
      page.evaluate(async () => {
        let count = 0;
        const stop = posthog.on('eventCaptured', () => count++);
        const main = document.querySelector('main') as HTMLElement;
        main.innerHTML = '<button>Begin</button>';
        main.querySelector('button')?.click();
        await new Promise((resolve) => setTimeout(resolve));
        stop();
        return count > 0;
      }),
    );
  });
  afterEach(() => visitors.leave());
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await ingest?.stop();
  });

  const shadowing = [
    'attributes',
    'className',
    'classList',
    'tagName',
    'nodeType',
    'parentNode',
    'childNodes',
    'firstChild',
    'nextSibling',
    'previousElementSibling',
    'getAttribute',
    'matches',
    'id',
    'name',
    'type',
    'textContent',
    'baseURI',
    'namespaceURI',
    'host',
    'value',
    'children',
    'contains',
    'designMode',
    'querySelectorAll',
    'style',
  ];
  const clobbering = shadowing.map((name) => `<input name="${name}"><img name="${name}">`).join('');

  const rows: [of: string, html: string, act: string, expected: (string | RegExp)[]][] = [
    [
      'form fields named like properties of the form',
      `<form id="real" class="order" onsubmit="return false">${clobbering}<button class="buy">Buy</button></form>`,
      `at('.buy').click()`,
      ['button.buy', 'form.order:', 'attr_id="real"', 'text="Buy"'],
    ],
    [
      'such a form that is submitted',
      `<form id="real" class="order" onsubmit="return false">${clobbering}</form>`,
      `at('form').dispatchEvent(new Event('submit', { bubbles: true }))`,
      ['form.order:'],
    ],
    [
      'such a form as a sibling',
      `<form class="order">${clobbering}</form><button>After</button>`,
      `at('main > button').click()`,
      ['nth-child="2"'],
    ],
    [
      'getters that throw',
      '<x-bad><button>Go</button></x-bad>',
      `class Bad extends HTMLElement { ${shadowing
        .filter((name) => name !== 'style')
        .map((name) => `get ${name}() { throw new Error('${name}') }`)
        .join(
          ' ',
        )} } customElements.define('x-bad', Bad); HTMLElement.prototype.querySelector.call(main, 'button').click()`,
      ['button:', ';x-bad:'],
    ],
    [
      'an event whose path and target throw',
      '<button>Go</button>',
      `addEventListener('click', (event) => { event.composedPath = () => { throw 1 }; Object.defineProperty(event, 'target', { get() { throw 2 } }) }, { capture: true, once: true }); at('button').click()`,
      ['button:'],
    ],
    [
      'parents in a circle',
      '<p><button>Go</button></p>',
      `Object.defineProperty(at('p'), 'parentNode', { value: at('button') }); at('button').click()`,
      ['button:', ';p:', ';main:'],
    ],
    [
      'a base address that throws',
      '<button>Go</button>',
      `Object.defineProperty(document, 'baseURI', { get() { throw 1 } }); at('button').click()`,
      ['button:'],
    ],
    [
      'computed styles that throw',
      '<button>Go</button>',
      `window.getComputedStyle = () => { throw 1 }; at('button').click()`,
      ['button:'],
    ],
    [
      '5,000 classes',
      `<button class="${Array.from({ length: 5000 }, (_, at) => `c${at}`).join(' ')}">Go</button>`,
      `at('button').click()`,
      ['button.c0'],
    ],
    [
      '5,000 attributes',
      '<button>Go</button>',
      `for (let i = 0; i < 5000; i++) at('button').setAttribute('data-' + i, 'x'.repeat(100)); at('button').click()`,
      ['button:'],
    ],
    [
      '10 MB of text',
      '<button></button>',
      `at('button').textContent = 'word '.repeat(2e6); at('button').click()`,
      ['text="word word'],
    ],
    [
      '10 MB of white space',
      '<button></button>',
      `at('button').textContent = ' \\n'.repeat(5e6); at('button').click()`,
      ['button:'],
    ],
    [
      'a word of 10 MB',
      '<button></button>',
      `at('button').textContent = 'x'.repeat(1e7); at('button').click()`,
      ['text="xxx'],
    ],
    [
      '10 MB of digits',
      '<button></button>',
      `at('button').textContent = '1 '.repeat(5e6); at('button').title = '1-'.repeat(5e6); at('button').click()`,
      ['button:'],
    ],
    [
      '100,000 texts',
      '<button></button>',
      `for (let i = 0; i < 1e5; i++) at('button').append('x', document.createElement('br')); at('button').click()`,
      ['text="xxx'],
    ],
    [
      '2,000 nested spans',
      '<button></button>',
      `let inner = at('button'); for (let i = 0; i < 2e3; i++) inner = inner.appendChild(document.createElement('span')); at('button').click()`,
      ['button:'],
    ],
    ['an address of 10 MB', '<a>Go</a>', `at('a').href = '#' + 'x'.repeat(1e7); at('a').click()`, ['a:', 'href="#xxx']],
    [
      'an attribute of 10 MB',
      '<button>Go</button>',
      `at('button').title = 'x'.repeat(1e7); at('button').dataset.phCaptureAttributeBig = 'y'.repeat(1e7); at('button').click()`,
      ['attr__title="xxx'],
    ],
    [
      'attributes named like properties of every object',
      '<button data-ph-capture-attribute-__proto__="p" data-ph-capture-attribute-constructor="c" __proto__="x" constructor="y">Go</button>',
      `at('button').click()`,
      ['attr____proto__="x"', 'attr__constructor="y"'],
    ],
    [
      "attributes named like the event's own properties",
      '<button data-ph-capture-attribute-token="stolen" data-ph-capture-attribute-distinct_id="stolen">Go</button>',
      `at('button').click()`,
      ['button:'],
    ],
    [
      'a changed Object.prototype and Array.prototype',
      '<button>Go</button>',
      `Array.prototype.extra = 1; Object.prototype.attr__extra = 'x'; at('button').click(); delete Object.prototype.attr__extra`,
      ['button:'],
    ],
  ];

  test.each(rows)('captures an event with %s', async (_, html, act, expected) => {
    const chain = await visit.page.evaluate(tryOut, { html, act });
    for (const part of expected) expect(chain).toContain(part);
    expect(chain.length).toBeLessThan(700_000);
    expect(visit.complaints.filter((complaint) => !complaint.includes('net::'))).toEqual([]);
  });

  test('capturing many clicks does not leak memory', async () => {
    const { page } = visit;
    const cdp = await page.context().newCDPSession(page);
    const heap = async () => {
      await cdp.send('HeapProfiler.collectGarbage');
      return ((await cdp.send('Runtime.getHeapUsage')) as { usedSize: number }).usedSize;
    };
    const clickMuch = (count: number) =>
      page.evaluate(async (times) => {
        posthog.set_config({ before_send: () => null });
        const main = document.querySelector('main') as HTMLElement;
        for (let at = 0; at < times; at++) {
          main.innerHTML = '<p><button>Go</button></p>';
          main.querySelector('button')?.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: at * 40 }));
          if (at % 1000 === 0) await new Promise((resolve) => setTimeout(resolve));
        }
        main.replaceChildren();
        // `get_session_id` completes the deferred captures.
        posthog.get_session_id();
      }, count);
    await clickMuch(5000);
    const before = await heap();
    await clickMuch(20_000);
    // Wait, because a browser collects garbage only when it is idle.
    await eventually(async () => expect((await heap()) - before).toBeLessThan(2_000_000));
    expect(visit.complaints).toEqual([]);
  });
});

async function tryOut({ html, act }: { html: string; act: string }): Promise<string> {
  const main = document.querySelector('main') as HTMLElement;
  main.innerHTML = html;
  const chains: unknown[] = [];
  const stop = posthog.on('eventCaptured', ({ event, properties }) => {
    if (event === '$autocapture') chains.push(properties.$elements_chain);
  });
  new Function('main', 'at', act)(main, (selector: string) => document.querySelector(selector));
  // Empty the page, because some elements are too large for the browser to draw.
  main.replaceChildren();
  await new Promise((resolve) => setTimeout(resolve));
  stop();
  return chains.join('\n');
}
