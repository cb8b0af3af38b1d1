import type { FlagValue } from '@millrace/browser';
import type { Page } from 'playwright-core';
import type { FunctionComponent } from 'react';
import { reactVersions } from './support/bundle-page.ts';
import { type KitPages, openKit } from './support/open-kit.ts';

/** A component whose props are not type-checked, so that tests can pass props that TypeScript would reject. */
type AnyProps = FunctionComponent<Record<string, unknown>>;

let pages: KitPages;
beforeAll(async () => {
  pages = await openKit();
});
afterAll(() => pages.close());
afterEach(async () => {
  for (const react of reactVersions) await pages.page(react).evaluate(() => window.shown?.unmount());
  expect(pages.complaints()).toEqual([]);
});

declare global {
  interface Window {
    shown: ReturnType<typeof kit.mount> | undefined;
    client: ReturnType<typeof kit.createRecordingClient>;
  }
}

const flags: Record<string, FlagValue> = { 'beta-nav': true, off: false, 'price-test': 'blue' };

/**
 * Returns all captured events. First waits for a few frames and the tasks queued after them, so that the observer can
 * report which elements are visible.
 */
const captured = (page: Page) =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => setTimeout(resolve));
    return window.client.callsOf('capture');
  });

describe.each(reactVersions)('PostHogFeature on React %s', (react) => {
  /**
   * Renders two buttons as children of the component. With `isBelow`, the component starts below the visible area of
   * the page.
   */
  async function show(props: object, { isBelow = false } = {}): Promise<Page> {
    const page = pages.page(react);
    await page.evaluate(
      ({ props, isBelow, flags }) => {
        const { createElement: h } = kit.react;
        window.client = kit.createRecordingClient({ flags, payloads: { 'price-test': { amount: 5 } } });
        const children = [h('button', { key: 'one', id: 'one' }, 'One'), h('button', { key: 'two', id: 'two' }, 'Two')];
        const Feature = kit.PostHogFeature as AnyProps;
        const spacer = h('div', { style: { height: isBelow ? '300vh' : '0' } });
        window.shown = kit.mount(
          h(kit.PostHogProvider, { client: window.client }, spacer, h(Feature, { ...props }, ...children)),
        );
      },
      { props, isBelow, flags },
    );
    return page;
  }
  const view = (flag: string, properties: object = {}, value: FlagValue = true) => [
    '$feature_view',
    { feature_flag: flag, ...properties, $set: { [`$feature_view/${flag}`]: value } },
  ];
  const interaction = (flag: string, properties: object = {}, value: FlagValue = true) => [
    '$feature_interaction',
    { feature_flag: flag, ...properties, $set: { [`$feature_interaction/${flag}`]: value } },
  ];

  it.each<[string, object, boolean]>([
    ['a flag that is on', { flag: 'beta-nav' }, true],
    ['a flag that is off, without match, because any known value matches', { flag: 'off' }, true],
    ['an unknown flag', { flag: 'missing' }, false],
    ['match true and a flag that is on', { flag: 'beta-nav', match: true }, true],
    ['match true and a flag that is off', { flag: 'off', match: true }, false],
    ['match true and a variant', { flag: 'price-test', match: true }, false],
    ['match false and a flag that is off', { flag: 'off', match: false }, true],
    ['match of the variant', { flag: 'price-test', match: 'blue' }, true],
    ['match of another variant', { flag: 'price-test', match: 'green' }, false],
    ['match and an unknown flag', { flag: 'missing', match: 'blue' }, false],
  ])('renders its children or nothing: %s', async (_, props, isShown) => {
    const page = await show({ ...props, trackView: false });
    expect(await page.locator('button').allTextContents()).toEqual(isShown ? ['One', 'Two'] : []);
    expect(await page.locator('main > div').count()).toBe(isShown ? 3 : 1);
  });

  it("wraps each child in an element with the attribute `flag` and all props other than the component's own", async () => {
    const page = await show({ flag: 'beta-nav', className: 'nav', title: 'New', trackView: false });
    const html = await page
      .locator('main')
      .evaluate((main) => [...main.children].slice(1).map((child) => child.outerHTML));
    const wrapped = (id: string, text: string) =>
      `<div flag="beta-nav" class="nav" title="New"><button id="${id}">${text}</button></div>`;
    expect(html).toEqual([wrapped('one', 'One'), wrapped('two', 'Two')]);
  });

  it('shows the fallback for another flag value, and does not track the fallback', async () => {
    const page = await show({ flag: 'off', match: true, fallback: 'The old way' });
    expect(await page.locator('main').textContent()).toBe('The old way');
    await page.locator('main').click();
    expect(await captured(page)).toEqual([]);
  });

  it("passes the flag's payload to a function child", async () => {
    const page = pages.page(react);
    const text = await page.evaluate((flags) => {
      const { createElement: h } = kit.react;
      window.client = kit.createRecordingClient({ flags, payloads: { 'price-test': { amount: 5 } } });
      const children = (payload: { amount: number }) => `${payload.amount} off`;
      window.shown = kit.mount(
        h(
          kit.PostHogProvider,
          { client: window.client },
          h(kit.PostHogFeature, { flag: 'price-test', match: 'blue', children }),
        ),
      );
      return window.shown.element.textContent;
    }, flags);
    expect(text).toBe('5 off');
  });

  it.each([
    ['beta-nav', {}, true],
    ['price-test', { feature_flag_variant: 'blue' }, 'blue'],
  ])('captures the first click on any child of %s once, and the first view once', async (flag, properties, value) => {
    const page = await show({ flag });
    for (const id of ['#one', '#one', '#two']) await page.locator(id).click();
    await page.waitForFunction(() => window.client.callsOf('capture').length > 1);
    const events = await captured(page);
    expect(events).toHaveLength(2);
    expect(events).toEqual(
      expect.arrayContaining([interaction(flag, properties, value), view(flag, properties, value)]),
    );
  });

  it('captures no clicks while trackInteraction is false', async () => {
    const page = await show({ flag: 'beta-nav', trackInteraction: false, trackView: false });
    await page.locator('#one').click();
    expect(await captured(page)).toEqual([]);
    await page.evaluate(() => {
      const { createElement: h } = kit.react;
      const feature = h(kit.PostHogFeature, { flag: 'beta-nav', trackView: false }, h('button', { id: 'one' }, 'One'));
      window.shown?.render(h(kit.PostHogProvider, { client: window.client }, h('div'), feature));
    });
    await page.locator('#one').click();
    expect(await captured(page)).toEqual([interaction('beta-nav')]);
  });

  it("calls the application's own onClick handler without capturing the click", async () => {
    const page = pages.page(react);
    await page.evaluate((flags) => {
      const { createElement: h } = kit.react;
      window.client = kit.createRecordingClient({ flags });
      const onClick = () => window.client.capture('own click');
      const feature = h(kit.PostHogFeature, { flag: 'beta-nav', trackView: false, onClick }, h('button', null, 'One'));
      window.shown = kit.mount(h(kit.PostHogProvider, { client: window.client }, feature));
    }, flags);
    await page.locator('button').click();
    expect(await captured(page)).toEqual([['own click']]);
  });

  it('captures a view only after the feature is scrolled into view', async () => {
    const page = await show({ flag: 'beta-nav' }, { isBelow: true });
    expect(await captured(page)).toEqual([]);
    await page.locator('#two').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => window.client.callsOf('capture').length > 0);
    expect(await captured(page)).toEqual([view('beta-nav')]);
  });

  it.each<[string, object, { threshold?: number | number[]; rootMargin?: string }]>([
    ['a tenth by default', {}, { threshold: 0.1 }],
    ['the given threshold', { visibilityObserverOptions: { threshold: 0.5 } }, { threshold: 0.5 }],
    [
      'all given options',
      { visibilityObserverOptions: { threshold: [0, 1], rootMargin: '10px' } },
      { threshold: [0, 1], rootMargin: '10px' },
    ],
  ])(
    'observes each child once with %s, and stops observing when the component is unmounted',
    async (_, props, options) => {
      const page = pages.page(react);
      const observed = await page.evaluate(
        ({ props, flags }) => {
          const { createElement: h } = kit.react;
          const real = window.IntersectionObserver;
          const made: unknown[] = [];
          let open = 0;
          window.IntersectionObserver = class extends real {
            constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
              super(callback, options);
              made.push(options);
              open += 1;
            }
            override disconnect() {
              super.disconnect();
              open -= 1;
            }
          };
          window.client = kit.createRecordingClient({ flags });
          const tree = () =>
            h(
              kit.PostHogProvider,
              { client: window.client },
              h(kit.PostHogFeature, { flag: 'beta-nav', ...structuredClone(props) }, h('i'), false, h('b')),
            );
          const { render, unmount } = kit.mount(tree());
          // The options are written inline, so each render creates a new object.
          render(tree());
          const whileShown = open;
          unmount();
          window.IntersectionObserver = real;
          return { made, whileShown, remaining: open };
        },
        { props, flags },
      );
      expect(observed).toEqual({ made: [options, options], whileShown: 2, remaining: 0 });
    },
  );

  it('does not observe its children if trackView is false or the browser has no IntersectionObserver', async () => {
    const page = await show({ flag: 'beta-nav', trackView: false });
    expect(await captured(page)).toEqual([]);
    const text = await page.evaluate((flags) => {
      const { createElement: h } = kit.react;
      const real = window.IntersectionObserver;
      Reflect.deleteProperty(window, 'IntersectionObserver');
      const client = kit.createRecordingClient({ flags });
      const { element, unmount } = kit.mount(
        h(kit.PostHogProvider, { client }, h(kit.PostHogFeature, { flag: 'beta-nav' }, 'New')),
      );
      const shown = element.textContent;
      unmount();
      window.IntersectionObserver = real;
      return shown;
    }, flags);
    expect(text).toBe('New');
  });
});

describe.each(reactVersions)('PostHogCaptureOnViewed on React %s', (react) => {
  async function show(props: Record<string, unknown>): Promise<Page> {
    const page = pages.page(react);
    await page.evaluate((props) => {
      const { createElement: h } = kit.react;
      window.client = kit.createRecordingClient();
      const Viewed = kit.PostHogCaptureOnViewed as AnyProps;
      const children = ['one', 'two'].map((id) => h('p', { key: id, id, style: { height: '200vh' } }, id));
      window.shown = kit.mount(
        h(
          kit.PostHogProvider,
          { client: window.client },
          h('div', { style: { height: '150vh' } }),
          h(Viewed, props, ...children),
        ),
      );
      window.scrollTo(0, 0);
    }, props);
    return page;
  }

  it('wraps its children in one element, and captures their first view once', async () => {
    const page = await show({ name: 'hero', properties: { place: 'top' }, className: 'hero' });
    const wrapper = page.locator('main > .hero');
    expect(await wrapper.evaluate((element) => [...element.children].map(({ id }) => id))).toEqual(['one', 'two']);
    expect(await captured(page)).toEqual([]);
    for (const id of ['#one', '#two', '#one']) await page.locator(id).evaluate((element) => element.scrollIntoView());
    await page.waitForFunction(() => window.client.callsOf('capture').length > 0);
    expect(await captured(page)).toEqual([['$element_viewed', { element_name: 'hero', place: 'top' }]]);
  });

  it('captures a view of each child separately if trackAllChildren is true', async () => {
    const page = await show({ name: 'list', trackAllChildren: true, className: 'list' });
    expect(await page.locator('main > .list > div').count()).toBe(2);
    for (const [at, id] of ['#one', '#two'].entries()) {
      await page.locator(id).evaluate((element) => element.scrollIntoView());
      await page.waitForFunction((seen) => window.client.callsOf('capture').length > seen, at);
    }
    await page.locator('#one').evaluate((element) => element.scrollIntoView());
    expect(await captured(page)).toEqual([
      ['$element_viewed', { element_name: 'list', child_index: 0 }],
      ['$element_viewed', { element_name: 'list', child_index: 1 }],
    ]);
  });

  it('observes its children with the given options', async () => {
    // The element is twice as high as the viewport, so at most half of it can be visible. The threshold of 0.9 is never
    // reached.
    const page = await show({ name: 'tall', observerOptions: { threshold: 0.9 } });
    await page.locator('#one').evaluate((element) => element.scrollIntoView());
    expect(await captured(page)).toEqual([]);
  });

  it('renders its children without a client', async () => {
    const text = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      const { element, unmount } = kit.mount(h(kit.PostHogCaptureOnViewed, { name: 'hero' }, 'Hello'));
      const shown = element.textContent;
      unmount();
      return shown;
    });
    expect(text).toBe('Hello');
  });
});
