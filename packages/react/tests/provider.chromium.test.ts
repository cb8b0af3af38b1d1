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
afterEach(() => expect(pages.complaints()).toEqual([]));

const both = (what: string) =>
  `[PostHog.js] You have provided both \`client\` and \`${what}\` to \`PostHogProvider\`. \`${what}\` will be ignored in favour of \`client\`.`;
const neither =
  '[PostHog.js] No `apiKey` or `client` were provided to `PostHogProvider`. Using default global `window.posthog` instance. You must initialize it manually. This is not recommended behavior.';
const alreadyLoaded = '[PostHog.js] `posthog` was already loaded elsewhere. This may cause issues.';
const otherKey = expect.stringContaining('You have provided a different `apiKey` to `PostHogProvider`');

interface ProviderCase {
  /** The provider's props in each render. `client: true` passes a client that the application has created. */
  renders: { client?: true | undefined; apiKey?: string | undefined; options?: object }[];
  isLoaded?: boolean;
  calls: unknown[][];
  warnings: unknown[];
  clientIs: 'own' | 'default';
}

const a = { api_host: 'https://a.example' };
const b = { api_host: 'https://b.example' };

describe.each(reactVersions)('PostHogProvider on React %s', (react) => {
  describe.each([false, true])('provider props with StrictMode %s', (isStrict) => {
    it.each<[string, ProviderCase]>([
      ['uses a given client as it is', { renders: [{ client: true }], calls: [], warnings: [], clientIs: 'own' }],
      [
        'ignores a key given with a client, with a warning',
        { renders: [{ client: true, apiKey: 'phc_1' }], calls: [], warnings: [both('apiKey')], clientIs: 'own' },
      ],
      [
        'ignores options given with a client, with a warning',
        { renders: [{ client: true, options: a }], calls: [], warnings: [both('options')], clientIs: 'own' },
      ],
      ['neither', { renders: [{}], calls: [], warnings: [neither], clientIs: 'default' }],
      ['client={undefined}', { renders: [{ client: undefined }], calls: [], warnings: [neither], clientIs: 'default' }],
      ['options without a key', { renders: [{ options: a }], calls: [], warnings: [neither], clientIs: 'default' }],
      [
        'starts the default client once for a key',
        {
          renders: [{ apiKey: 'phc_1' }, { apiKey: 'phc_1' }],
          calls: [['init', 'phc_1', undefined]],
          warnings: [],
          clientIs: 'default',
        },
      ],
      [
        'starts the default client with a key and options',
        {
          renders: [{ apiKey: 'phc_1', options: a }],
          calls: [['init', 'phc_1', a]],
          warnings: [],
          clientIs: 'default',
        },
      ],
      [
        'warns about a default client that was started elsewhere',
        {
          renders: [{ apiKey: 'phc_1' }],
          isLoaded: true,
          calls: [['init', 'phc_1', undefined]],
          warnings: [alreadyLoaded],
          clientIs: 'default',
        },
      ],
      [
        'keeps the first key when another follows',
        {
          renders: [{ apiKey: 'phc_1' }, { apiKey: 'phc_2' }],
          calls: [['init', 'phc_1', undefined]],
          warnings: [otherKey],
          clientIs: 'default',
        },
      ],
      [
        'starts the default client when a key arrives later',
        {
          renders: [{ apiKey: undefined }, { apiKey: 'phc_1' }],
          calls: [['init', 'phc_1', undefined]],
          warnings: [neither],
          clientIs: 'default',
        },
      ],
      [
        'passes changed options to the client',
        {
          renders: [
            { apiKey: 'phc_1', options: a },
            { apiKey: 'phc_1', options: b },
          ],
          calls: [
            ['init', 'phc_1', a],
            ['set_config', b],
          ],
          warnings: [],
          clientIs: 'default',
        },
      ],
      [
        'ignores options that are equal',
        {
          renders: [
            { apiKey: 'phc_1', options: a },
            { apiKey: 'phc_1', options: { ...a } },
          ],
          calls: [['init', 'phc_1', a]],
          warnings: [],
          clientIs: 'default',
        },
      ],
    ])('%s', async (_, { renders, isLoaded = false, calls, warnings, clientIs }) => {
      const seen = await pages.page(react).evaluate(
        ({ renders, isLoaded, isStrict }) => {
          const { createElement: h } = kit.react;
          const own = kit.createRecordingClient();
          const byDefault = kit.createRecordingClient();
          Object.assign(byDefault, { __loaded: isLoaded });
          kit.setDefaultPostHogInstance(byDefault);
          const texts: (string | null)[] = [];
          function Shown() {
            return kit.usePostHog() === own ? 'own' : 'default';
          }
          const Provider = kit.PostHogProvider as AnyProps;
          const tree = ({ client, ...props }: { client?: true | undefined }) =>
            h(Provider, { ...props, ...(client && { client: own }) }, h(Shown));
          const [first = {}, ...later] = renders;
          const { element, render, unmount, warnings } = kit.mount(tree(first), { isStrict });
          texts.push(element.textContent);
          for (const props of later) {
            render(tree(props));
            texts.push(element.textContent);
          }
          unmount();
          kit.setDefaultPostHogInstance(undefined);
          return { texts, calls: byDefault.calls, ownCalls: own.calls, warnings };
        },
        { renders, isLoaded, isStrict },
      );
      expect(seen).toEqual({ texts: renders.map(() => clientIs), calls, ownCalls: [], warnings });
    });
  });

  it.each([
    ['the options', { apiKey: 'phc_1', options: { bootstrap: { featureFlags: { of: 'options' } } } }, 'options'],
    ['the client, if the options have none', { apiKey: 'phc_1', options: {} }, 'config'],
    ['a given client', { client: true }, 'config'],
  ])('provides the bootstrap from %s', async (_, props, expected) => {
    const of = await pages.page(react).evaluate(
      (given) => {
        const { createElement: h, useContext } = kit.react;
        const client = kit.createRecordingClient({ bootstrap: { featureFlags: { of: 'config' } } });
        kit.setDefaultPostHogInstance(client);
        function Shown() {
          return String(useContext(kit.PostHogContext).bootstrap?.featureFlags?.of);
        }
        const Provider = kit.PostHogProvider as AnyProps;
        const { element, unmount } = kit.mount(h(Provider, { ...given, ...(given.client && { client }) }, h(Shown)));
        const text = element.textContent;
        unmount();
        kit.setDefaultPostHogInstance(undefined);
        return text;
      },
      props as { client?: true },
    );
    expect(of).toBe(expected);
  });

  it('does not render its children again when it is rendered with the same options, even if they are new objects', async () => {
    const renders = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      kit.setDefaultPostHogInstance(kit.createRecordingClient({ hasLoaded: false }));
      let count = 0;
      function Shown() {
        count += 1;
        kit.usePostHog();
        return String(kit.useFeatureFlagEnabled('on'));
      }
      const children = h(Shown);
      const tree = () =>
        h(
          kit.PostHogProvider,
          { apiKey: 'phc_1', options: { api_host: 'https://a.example', bootstrap: { featureFlags: { on: true } } } },
          children,
        );
      const { render, unmount } = kit.mount(tree());
      render(tree());
      render(tree());
      unmount();
      kit.setDefaultPostHogInstance(undefined);
      return count;
    });
    expect(renders).toBe(1);
  });

  it('accepts options that are circular, or that contain elements and functions', async () => {
    const calls = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      const client = kit.createRecordingClient();
      kit.setDefaultPostHogInstance(client);
      const loaded = () => {};
      const Provider = kit.PostHogProvider as AnyProps;
      const tree = (pattern: string) => {
        const circle: Record<string, unknown> = {
          autocapture: { url_allowlist: [pattern] },
          root: document.body,
          loaded,
        };
        circle.self = circle;
        return h(Provider, { apiKey: 'phc_1', options: circle });
      };
      const { render, unmount } = kit.mount(tree('shop'));
      render(tree('shop'));
      const before = client.callsOf('set_config').length;
      render(tree('cart'));
      unmount();
      kit.setDefaultPostHogInstance(undefined);
      return [client.callsOf('init').length, before, client.callsOf('set_config').length];
    });
    expect(calls).toEqual([1, 0, 1]);
  });

  it("the slim entry's provider passes on the client and its bootstrap, and does not start a client", async () => {
    const seen = await pages.page(react).evaluate(() => {
      const { createElement: h, useContext } = kit.react;
      const client = kit.createRecordingClient({ bootstrap: { featureFlags: { on: true } } });
      const values: unknown[] = [];
      function Shown() {
        const value = useContext(kit.PostHogContext);
        values.push(value.client === client, value.bootstrap);
        return 'shown';
      }
      const { element, unmount } = kit.mount(h(kit.PostHogProviderSlim, { client }, h(Shown)));
      values.push(element.textContent, client.calls);
      unmount();
      return values;
    });
    expect(seen).toEqual([true, { featureFlags: { on: true } }, 'shown', []]);
  });
});
