import type { FlagValue, JsonValue } from '@millrace/browser';
import type { FlagHook } from './page/read-hook.ts';
import type { GivenFlags } from './page/recording-client.ts';
import { reactVersions } from './support/bundle-page.ts';
import { type KitPages, openKit } from './support/open-kit.ts';

const flags: Record<string, FlagValue> = { on: true, off: false, test: 'blue' };
const payloads: Record<string, JsonValue> = { on: { discount: 5 }, test: 'a text' };
const loaded: GivenFlags = { flags, payloads };
const notLoaded: GivenFlags = { hasLoaded: false };
const bootstrapped: GivenFlags = {
  hasLoaded: false,
  bootstrap: { featureFlags: flags, featureFlagPayloads: payloads },
};
const otherBootstrap: GivenFlags = { hasLoaded: false, bootstrap: { distinctID: 'ada' } };
const nothing = 'nothing';

let pages: KitPages;
beforeAll(async () => {
  pages = await openKit();
});
afterAll(() => pages.close());
afterEach(() => expect(pages.complaints()).toEqual([]));

describe.each(reactVersions)('feature flag hooks on React %s', (react) => {
  async function read(hook: FlagHook, given: unknown[], client: GivenFlags, loads: GivenFlags[] = []) {
    const reading = JSON.stringify({ hook, given, client, loads });
    return pages.page(react).evaluate((text) => kit.readHook(JSON.parse(text)), reading);
  }

  describe.each([
    ['loaded', loaded],
    ['bootstrapped and not yet loaded', bootstrapped],
  ])('hooks when flags are %s', (_, client) => {
    it.each<[FlagHook, unknown[], unknown]>([
      ['useFeatureFlagEnabled', ['on'], true],
      ['useFeatureFlagEnabled', ['off'], false],
      ['useFeatureFlagEnabled', ['test'], true],
      ['useFeatureFlagEnabled', ['missing'], nothing],
      ['useFeatureFlagEnabled', ['missing', true], true],
      ['useFeatureFlagEnabled', ['missing', false], false],
      ['useFeatureFlagEnabled', ['off', true], false],
      ['useFeatureFlagVariantKey', ['on'], true],
      ['useFeatureFlagVariantKey', ['off'], false],
      ['useFeatureFlagVariantKey', ['test'], 'blue'],
      ['useFeatureFlagVariantKey', ['missing'], nothing],
      ['useFeatureFlagPayload', ['on'], { discount: 5 }],
      ['useFeatureFlagPayload', ['test'], 'a text'],
      ['useFeatureFlagPayload', ['off'], nothing],
      ['useFeatureFlagPayload', ['missing'], nothing],
      ['useFeatureFlagResult', ['on'], { key: 'on', enabled: true, variant: undefined, payload: { discount: 5 } }],
      ['useFeatureFlagResult', ['off'], { key: 'off', enabled: false, variant: undefined, payload: undefined }],
      ['useFeatureFlagResult', ['test'], { key: 'test', enabled: true, variant: 'blue', payload: 'a text' }],
      ['useFeatureFlagResult', ['missing'], nothing],
      ['useActiveFeatureFlags', [], ['on', 'test']],
    ])('%s(%j) shows %j in one render', async (hook, given, expected) => {
      const { shown } = await read(hook, given, client);
      expect(shown).toEqual([expected]);
    });
  });

  it('hooks ignore inherited object properties in the bootstrap', async () => {
    const { shown } = await read('useFeatureFlagEnabled', ['constructor'], bootstrapped);
    expect(shown).toEqual([nothing]);
  });

  it.each<[FlagHook, unknown[], unknown]>([
    ['useFeatureFlagEnabled', ['on'], nothing],
    ['useFeatureFlagEnabled', ['on', true], true],
    ['useFeatureFlagVariantKey', ['on'], nothing],
    ['useFeatureFlagPayload', ['on'], nothing],
    ['useFeatureFlagResult', ['on'], nothing],
    ['useActiveFeatureFlags', [], []],
  ])('%s(%j) shows %j before flags are loaded and without bootstrapped flags', async (hook, given, expected) => {
    expect((await read(hook, given, notLoaded)).shown).toEqual([expected]);
    expect((await read(hook, given, otherBootstrap)).shown).toEqual([expected]);
  });

  it.each<[FlagHook, unknown[], unknown[]]>([
    ['useFeatureFlagEnabled', ['test'], [true, false]],
    ['useFeatureFlagVariantKey', ['test'], ['blue', 'green', false]],
    ['useFeatureFlagPayload', ['test'], ['a text', { from: 'service' }, nothing]],
    ['useActiveFeatureFlags', [], [['on', 'test'], ['test'], ['late']]],
  ])(
    '%s(%j) replaces bootstrapped values with fetched ones, and follows further loads: %j',
    async (hook, given, expected) => {
      const { shown } = await read(hook, given, bootstrapped, [
        { flags: { test: 'green' }, payloads: { test: { from: 'service' } } },
        { flags: { test: false, late: true } },
      ]);
      expect(shown).toEqual(expected);
    },
  );

  it.each<[FlagHook, unknown[], unknown]>([
    ['useFeatureFlagEnabled', ['on'], true],
    ['useFeatureFlagVariantKey', ['on'], true],
    ['useFeatureFlagPayload', ['on'], { discount: 5 }],
    ['useFeatureFlagResult', ['on'], { key: 'on', enabled: true, variant: undefined, payload: { discount: 5 } }],
  ])('%s(%j) does not render again when other flags change or equal values are loaded', async (hook, given, only) => {
    const { shown } = await read(hook, given, loaded, [
      loaded,
      { flags: { ...flags, test: 'green', more: true }, payloads: { ...payloads, test: 'other' } },
      { flags: { on: true }, payloads: { on: { discount: 5 } } },
    ]);
    expect(shown).toEqual([only]);
  });

  it('useActiveFeatureFlags does not render again if the same flags are active', async () => {
    const { shown } = await read('useActiveFeatureFlags', [], loaded, [loaded, { flags: { on: true, test: 'green' } }]);
    expect(shown).toEqual([['on', 'test']]);
  });

  it.each<[FlagHook, string, unknown[][]]>([
    ['useFeatureFlagEnabled', 'captures the flag call', [['isFeatureEnabled', 'on']]],
    ['useFeatureFlagVariantKey', 'captures the flag call', [['getFeatureFlag', 'on']]],
    ['useFeatureFlagResult', 'captures the flag call', [['getFeatureFlagResult', 'on']]],
    ['useFeatureFlagPayload', 'captures nothing', []],
  ])('%s %s', async (hook, _, expected) => {
    const { calls } = await read(hook, ['on'], loaded);
    expect(calls.filter((call, at) => at === calls.findIndex((other) => String(other) === String(call)))).toEqual(
      expected,
    );
  });

  it('hooks capture nothing for a render that React does not commit', async () => {
    const captured = await pages.page(react).evaluate(async () => {
      const { createElement: h, Suspense } = kit.react;
      const client = kit.createRecordingClient({ flags: { on: true } });
      const never = new Promise<void>(() => {});
      function Suspended(): never {
        kit.useFeatureFlagEnabled('on');
        throw never;
      }
      const tree = h(kit.PostHogProvider, { client }, h(Suspense, { fallback: 'waiting' }, h(Suspended)));
      const { element, unmount } = kit.mount(tree);
      const text = element.textContent;
      unmount();
      return { text, captured: client.calls.filter(([, , options]) => options === undefined) };
    });
    expect(captured).toEqual({ text: 'waiting', captured: [] });
  });

  it('hooks unsubscribe exactly once on unmount, also in StrictMode', async () => {
    const counts = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      const client = kit.createRecordingClient({ flags: { on: true } });
      function All() {
        kit.useFeatureFlagEnabled('on');
        kit.useFeatureFlagVariantKey('on');
        kit.useFeatureFlagPayload('on');
        kit.useFeatureFlagResult('on');
        kit.useActiveFeatureFlags();
        return null;
      }
      const { unmount } = kit.mount(h(kit.PostHogProvider, { client }, h(All)), { isStrict: true });
      const mounted = client.listeners();
      unmount();
      return { mounted, remaining: client.listeners() };
    });
    expect(counts).toEqual({ mounted: 5, remaining: 0 });
  });

  it('hooks return the new value when the flag key or the client changes', async () => {
    const shown = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      const first = kit.createRecordingClient({ flags: { a: 'a1', b: 'b1' } });
      const second = kit.createRecordingClient({ flags: { b: 'b2' } });
      function Shown({ flag }: { flag: string }) {
        return String(kit.useFeatureFlagVariantKey(flag));
      }
      const tree = (client: typeof first, flag: string) => h(kit.PostHogProvider, { client }, h(Shown, { flag }));
      const { element, render, unmount } = kit.mount(tree(first, 'a'));
      const texts = [element.textContent];
      for (const next of [tree(first, 'b'), tree(second, 'b')]) {
        render(next);
        texts.push(element.textContent);
      }
      unmount();
      return [...texts, first.listeners()];
    });
    expect(shown).toEqual(['a1', 'b1', 'b2', 0]);
  });

  it('hooks return the same flag value throughout a render, even if the flag changes during the render', async () => {
    const torn = await pages.page(react).evaluate(async () => {
      const { createElement: h, startTransition, useState } = kit.react;
      const client = kit.createRecordingClient({ flags: { test: 'blue' } });
      const committed: string[] = [];
      function Shown({ changes }: { changes: boolean }) {
        const value = String(kit.useFeatureFlagVariantKey('test'));
        // Load flags during this render, as other code on the page could do.
        if (changes && value === 'blue') queueMicrotask(() => client.load({ test: 'green' }));
        for (const until = performance.now() + 12; performance.now() < until; );
        return value;
      }
      let show: (is: boolean) => void = () => {};
      function App() {
        const [isShown, setShown] = useState(false);
        show = setShown;
        return isShown ? [0, 1, 2, 3].map((key) => h(Shown, { key, changes: key === 0 })) : null;
      }
      const { element, unmount } = kit.mount(h(kit.PostHogProvider, { client }, h(App)));
      const observer = new MutationObserver(() => committed.push(element.textContent ?? ''));
      observer.observe(element, { childList: true, characterData: true, subtree: true });
      globalThis.IS_REACT_ACT_ENVIRONMENT = false;
      startTransition(() => show(true));
      await new Promise<void>((resolve) => {
        const last = new MutationObserver(() => element.textContent === 'greengreengreengreen' && resolve());
        last.observe(element, { childList: true, characterData: true, subtree: true });
      });
      globalThis.IS_REACT_ACT_ENVIRONMENT = true;
      observer.disconnect();
      unmount();
      return committed.filter((text) => text.includes('blue') && text.includes('green'));
    });
    expect(torn).toEqual([]);
  });

  it("usePostHog returns the provider's client, or else the default client, or else undefined", async () => {
    const given = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      const own = kit.createRecordingClient();
      const byDefault = kit.createRecordingClient();
      const seen: unknown[] = [];
      function Shown() {
        const client = kit.usePostHog();
        seen.push(client === own ? 'own' : client === byDefault ? 'default' : typeof client);
        seen.push([kit.useFeatureFlagEnabled('on') ?? 'nothing', kit.useActiveFeatureFlags()]);
        return null;
      }
      kit.mount(h(kit.PostHogProvider, { client: own }, h(Shown))).unmount();
      kit.setDefaultPostHogInstance(byDefault);
      kit.mount(h(Shown)).unmount();
      kit.setDefaultPostHogInstance(undefined);
      kit.mount(h(Shown)).unmount();
      return seen;
    });
    const none = ['nothing', []];
    expect(given).toEqual(['own', none, 'default', none, 'undefined', none]);
  });
});
