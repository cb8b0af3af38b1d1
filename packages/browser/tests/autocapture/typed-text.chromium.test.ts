import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, Page } from 'playwright-core';
import { openPage } from '../support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';

declare const posthog: import('../../src/index.ts').Client;

describe('typed text in autocaptured events', () => {
  let browser: Browser;
  let ingest: ScriptedIngest;
  let site: TestServer;
  let page: Page;

  beforeAll(async () => {
    [browser, ingest, site] = await Promise.all([
      launchChromium(),
      startScriptedIngest(),
      startSite({ body: '<main></main>' }),
    ]);
    Object.assign(ingest.config, { elementsChainAsString: false });
    ({ page } = await openPage(await browser.newContext(), site.url));
    await page.waitForFunction('window.posthog');
    const options = {
      api_host: ingest.url,
      opt_out_useragent_filter: true,
      feature_flag_request_timeout_ms: patienceMs,
      autocapture: { capture_copied_text: true },
      rate_limiting: { events_per_second: 100_000, events_burst_limit: 1_000_000 },
    };
    await page.evaluate(`posthog.init('phc_test', ${JSON.stringify(options)})`);
    // Once the library captures a click, it has received the settings.
    await eventually(async () => {
      await page.evaluate(() => {
        document.querySelector('main')?.insertAdjacentHTML('beforeend', '<button>Go</button>');
        document.querySelector<HTMLElement>('main button')?.click();
      });
      await page.evaluate(() => posthog.flush());
      return ingest.events('$autocapture').length > 0;
    });
  });

  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await ingest?.stop();
  });

  test.each(Array.from({ length: 40 }, (_, seed) => seed))('sends no typed text from random form %i', async (seed) => {
    ingest.clear();
    const secrets = await page.evaluate(fillForm, seed);
    await sendAll();
    expect(ingest.events('$autocapture').length).toBeGreaterThan(10);
    expect(secrets.length).toBeGreaterThan(20);
    const sent = JSON.stringify(ingest.requests.map(({ body }) => body));
    expect(
      secrets
        .filter((secret) => sent.includes(secret))
        .map((secret) => sent.slice(sent.indexOf(secret) - 200, sent.indexOf(secret) + 60)),
    ).toEqual([]);
  });

  test('sends no typed text when a visitor types, copies and pastes by keyboard, and submits the form', async () => {
    ingest.clear();
    await page.evaluate(() => {
      const main = document.querySelector('main') as HTMLElement;
      main.innerHTML = `<form onsubmit="return false"><label>Name <input name="name"></label><textarea name="note"></textarea>
        <input type="password" name="secret"><div contenteditable="true" class="editor"></div><button>Send</button></form>`;
    });
    // This text contains no digits, because IDs and times can contain any sequence of digits by chance.
    const typed = 'Typed by a visitor, qwortz';
    for (const field of ['[name=name]', '[name=note]', '[name=secret]', '.editor']) {
      await page.click(`main ${field}`);
      await page.keyboard.type(typed);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('ControlOrMeta+c');
      await page.keyboard.press('ControlOrMeta+x');
      await page.keyboard.press('ControlOrMeta+v');
    }
    await page.click('main .editor');
    await page.click('main button');
    await sendAll();
    expect(ingest.events('$autocapture').map(({ properties }) => properties.$event_type)).toContain('submit');
    expect(JSON.stringify(ingest.requests.map(({ body }) => body))).not.toContain('qwortz');
  });

  async function sendAll(): Promise<void> {
    await page.evaluate(() => {
      posthog.capture('end');
      return posthog.flush();
    });
    await eventually(() => ingest.events('end').length > 0);
  }
});

/** Adds a random form to the page, fills it in, and performs every captured action on it. Returns the typed texts. */
function fillForm(seed: number): string[] {
  let state = seed + 1;
  const random = (below: number) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  const pick = <Value>(values: Value[]): Value => values[random(values.length)] as Value;
  const secrets: string[] = [];
  const secret = () => {
    const words = ['zq', 'Ünï', '漢字', 'a b', '"quoted"', 'x\\y', '<b>', "it's", '👍'];
    const text = `s${seed}x${secrets.length}k${pick(words)}${random(1e9)}`;
    // Search for the text up to the first quote or backslash, because later characters are escaped in request bodies.
    secrets.push(JSON.stringify(text).slice(1, -1).split(/["\\]/)[0] ?? text);
    return text;
  };
  const types = ['text', 'search', 'email', 'url', 'tel', 'password', 'hidden', 'radio', 'nonsense', ''];
  const set = (field: HTMLInputElement | HTMLTextAreaElement) => {
    const text = secret();
    field.value = text;
    // Some form libraries set the `value` attribute, so set it in some of the forms.
    if (random(2)) field.setAttribute('value', text);
    if (random(3) === 0) field.setAttribute('data-value', text);
    if (random(3) === 0) field.title = text;
    return text;
  };

  const field = (): HTMLElement => {
    switch (random(7)) {
      case 0: {
        const area = document.createElement('textarea');
        area.textContent = set(area);
        return area;
      }
      case 1: {
        const editor = document.createElement('div');
        editor.setAttribute('contenteditable', pick(['true', '', 'plaintext-only', 'TRUE']));
        const [link, text] = [secret(), secret()].map((one) => one.replace(/[<>"]/g, ''));
        editor.innerHTML = `<p>${text} <a href="https://${encodeURIComponent(link ?? '')}.example/" onclick="return false">${text}</a> <button>${text}</button></p>`;
        secrets.push(encodeURIComponent(link ?? ''));
        return editor;
      }
      case 2: {
        const select = document.createElement('select');
        if (random(2)) select.size = 3;
        for (let at = 0; at < 3; at++) select.add(new Option(secret(), secret(), false, at === 1));
        return select;
      }
      case 3: {
        const host = document.createElement(pick(['x-field', 'div', 'span']));
        const root = host.attachShadow({ mode: pick(['open', 'closed'] as const) });
        root.append(field());
        return host;
      }
      case 4: {
        // Some pages copy the text of a text area to a hidden element to measure the height that the text area needs.
        const mirror = document.createElement('div');
        const area = document.createElement('textarea');
        mirror.dataset.replicatedValue = set(area);
        mirror.append(area);
        return mirror;
      }
      default: {
        const input = document.createElement('input');
        input.type = pick(types);
        set(input);
        // Hide some fields, as some password managers do.
        if (random(4) === 0) input.style.display = 'none';
        return input;
      }
    }
  };

  const form = document.createElement('form');
  form.addEventListener('submit', (event) => event.preventDefault());
  for (let at = 0; at < 25; at++) {
    const label = document.createElement(pick(['label', 'p', 'fieldset', 'button', 'a']));
    label.append(`Field ${at} `, field());
    if (random(3) === 0) label.style.cursor = 'pointer';
    form.append(label);
  }
  document.querySelector('main')?.replaceChildren(form);

  const every = (root: ParentNode): Element[] =>
    [...root.querySelectorAll('*')].flatMap((element) => [
      element,
      ...(element.shadowRoot ? every(element.shadowRoot) : []),
    ]);
  for (const element of every(form)) {
    getSelection()?.selectAllChildren(element);
    const events: Event[] = [
      new MouseEvent('click', { bubbles: true, composed: true, cancelable: true }),
      new Event('change', { bubbles: true }),
      ...['copy', 'cut', 'paste'].map((type) => new ClipboardEvent(type, { bubbles: true, composed: true })),
    ];
    for (const event of events) element.dispatchEvent(event);
  }
  form.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  return secrets;
}
