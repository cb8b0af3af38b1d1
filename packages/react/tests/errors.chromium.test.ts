import { __POSTHOG_ERROR_MESSAGES } from '../src/errors.ts';
import { reactVersions } from './support/bundle-page.ts';
import { type KitPages, openKit } from './support/open-kit.ts';

let pages: KitPages;
beforeAll(async () => {
  pages = await openKit();
});
afterAll(() => pages.close());
// React logs each thrown error, so the console warnings are expected.
afterEach(() => pages.complaints());

const invalidFallback =
  '[PostHog.js][PostHogErrorBoundary] Invalid fallback prop, provide a valid React element or a function that returns a valid React element.';

describe.each(reactVersions)('PostHogErrorBoundary on React %s', (react) => {
  it.each<[string, { fallback?: string | null; html: string; warnings: string[] }]>([
    ['an element', { fallback: 'element', html: '<p>Sorry</p>', warnings: [] }],
    ['a component', { fallback: 'component', html: '<p>Kaboom</p>', warnings: [] }],
    ['nothing', { html: '', warnings: [invalidFallback] }],
    ['null', { fallback: null, html: '', warnings: [invalidFallback] }],
    ['text', { fallback: 'text', html: '', warnings: [invalidFallback] }],
  ])('shows %s as the fallback', async (_, { fallback, html, warnings }) => {
    const seen = await pages.page(react).evaluate((kind) => {
      const { createElement: h } = kit.react;
      const client = kit.createRecordingClient();
      const fallbacks = {
        element: h('p', null, 'Sorry'),
        component: ({ error }: { error: unknown }) => h('p', null, (error as Error).message),
        text: 'Sorry',
      };
      function Broken(): never {
        throw new Error('Kaboom');
      }
      const fallback = kind ? fallbacks[kind as keyof typeof fallbacks] : (kind as null | undefined);
      const { element, unmount, warnings } = kit.mount(
        h(kit.PostHogProvider, { client }, h(kit.PostHogErrorBoundary, { fallback }, h(Broken))),
      );
      const html = element.innerHTML;
      unmount();
      return { html, warnings: [...new Set(warnings)], captured: client.callsOf('captureException').length };
    }, fallback);
    expect(seen).toEqual({ html, warnings, captured: 1 });
  });

  it.each<[string, string, unknown]>([
    ['none', 'none', undefined],
    ['an object', 'object', { team: 7 }],
    ['a function of the error and the component stack', 'function', { of: 'Kaboom', hasStack: true }],
  ])(
    'captures the error with %s as additional properties, and appends the component stack to its causes',
    async (_, kind, properties) => {
      const seen = await pages.page(react).evaluate((kind) => {
        const { createElement: h } = kit.react;
        const client = kit.createRecordingClient();
        const given = {
          none: undefined,
          object: { team: 7 },
          function: (error: unknown, { componentStack }: { componentStack?: string | null }) => ({
            of: (error as Error).message,
            hasStack: componentStack?.includes('Broken') ?? false,
          }),
        };
        const cause = new TypeError('inner');
        const thrown = new RangeError('Kaboom', { cause });
        function Broken(): never {
          throw thrown;
        }
        const boundary = h(
          kit.PostHogErrorBoundary,
          { fallback: h('p'), additionalProperties: given[kind as keyof typeof given] },
          h(Broken),
        );
        kit.mount(h(kit.PostHogProvider, { client }, boundary)).unmount();
        const [[error, properties] = []] = client.callsOf('captureException');
        const added = cause.cause as Error;
        return {
          isThrown: error === thrown,
          properties,
          added: { name: added.name, message: added.message, hasStack: added.stack?.includes('Broken') },
        };
      }, kind);
      expect(seen).toEqual({
        isThrown: true,
        properties,
        added: { name: 'React ErrorBoundary RangeError', message: 'Kaboom', hasStack: true },
      });
    },
  );

  it.each([
    ['undefined', 'undefined'],
    ['null', 'null'],
    ['"a text"', 'a text'],
    ['7', '7'],
    ['Symbol("s")', 'Symbol(s)'],
  ])('wraps a thrown %s in an error, and shows the fallback', async (source, text) => {
    const seen = await pages.page(react).evaluate((source) => {
      const { createElement: h } = kit.react;
      const client = kit.createRecordingClient();
      // biome-ignore lint/security/noGlobalEval: the value cannot be passed to the page
      const value = window.eval(source) as unknown;
      function Broken(): never {
        throw value;
      }
      const { element, unmount } = kit.mount(
        h(kit.PostHogProvider, { client }, h(kit.PostHogErrorBoundary, { fallback: h('p') }, h(Broken))),
      );
      const html = element.innerHTML;
      unmount();
      const error = client.callsOf('captureException')[0]?.[0] as Error;
      return { html, name: error.name, message: error.message, hasStack: error.stack?.includes('Broken') };
    }, source);
    expect(seen).toEqual({
      html: '<p></p>',
      name: 'React ErrorBoundary Error',
      message: `Primitive value captured as exception: ${text}`,
      hasStack: true,
    });
  });

  it('passes the captured event to the first render of the fallback, and can render the children again', async () => {
    const seen = await pages.page(react).evaluate(() => {
      const { act, createElement: h, createRef } = kit.react;
      const client = kit.createRecordingClient();
      const shown: { event: unknown; hasStack: boolean; reset: () => void }[] = [];
      let isBroken = true;
      function Sometimes() {
        if (isBroken) throw new Error('Kaboom');
        return 'Recovered';
      }
      function Fallback({
        exceptionEvent,
        componentStack,
        resetError,
      }: {
        exceptionEvent: unknown;
        componentStack: string;
        resetError: () => void;
      }) {
        shown.push({ event: exceptionEvent, hasStack: componentStack.includes('Sometimes'), reset: resetError });
        return 'Failed';
      }
      const boundary = createRef<InstanceType<typeof kit.PostHogErrorBoundary>>();
      const tree = () =>
        h(
          kit.PostHogProvider,
          { client },
          h(kit.PostHogErrorBoundary, { ref: boundary, fallback: Fallback }, h(Sometimes)),
        );
      const { element, render, unmount } = kit.mount(tree());
      const instance = boundary.current;
      const texts = [element.textContent];
      isBroken = false;
      render(tree());
      texts.push(element.textContent);
      act(() => shown.at(-1)?.reset());
      texts.push(element.textContent);
      const state = boundary.current?.state;
      isBroken = true;
      render(tree());
      texts.push(element.textContent);
      act(() => shown.at(-1)?.reset());
      texts.push(element.textContent);
      const isSame = boundary.current === instance;
      unmount();
      return {
        texts,
        state,
        isSame,
        captured: client.callsOf('captureException').length,
        first: { event: shown[0]?.event, hasStack: shown[0]?.hasStack },
        isStable: shown.every(({ reset }) => reset === shown[0]?.reset),
      };
    });
    expect(seen).toEqual({
      texts: ['Failed', 'Failed', 'Recovered', 'Failed', 'Failed'],
      state: { error: null, componentStack: null, exceptionEvent: null },
      isSame: true,
      captured: 3,
      first: { event: { event: '$exception', uuid: 'Error: Kaboom' }, hasStack: true },
      isStable: true,
    });
  });

  it('renders children that do not throw, including function children, and shows the fallback even without a client', async () => {
    const seen = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      function Broken(): never {
        throw new Error('Kaboom');
      }
      const html = (node: ReturnType<typeof h>) => {
        const { element, unmount } = kit.mount(node);
        const shown = element.innerHTML;
        unmount();
        return shown;
      };
      return [
        html(h(kit.PostHogErrorBoundary, { fallback: h('p') }, 'Fine')),
        html(h(kit.PostHogErrorBoundary, { fallback: h('p'), children: () => 'Fine' })),
        html(h(kit.PostHogErrorBoundary, { fallback: h('p') }, h(Broken))),
      ];
    });
    expect(seen).toEqual(['Fine', 'Fine', '<p></p>']);
  });
});

it('setupReactErrorHandler captures errors from React 19 roots, and calls the callback', async () => {
  const seen = await pages.page('19').evaluate(async () => {
    const { createElement: h } = kit.react;
    const client = kit.createRecordingClient();
    const called: unknown[][] = [];
    function Broken(): never {
      throw new Error('Kaboom');
    }
    // With `act`, React would throw the error to the caller of `render` and skip the error handlers.
    globalThis.IS_REACT_ACT_ENVIRONMENT = false;
    await new Promise<void>((resolve) => {
      const onUncaughtError = kit.setupReactErrorHandler(client, (event, error, { componentStack }) => {
        called.push([event, (error as Error).message, componentStack?.includes('Broken')]);
        resolve();
      });
      kit.createRoot(document.createElement('main'), { onUncaughtError }).render(h(Broken));
    });
    globalThis.IS_REACT_ACT_ENVIRONMENT = true;
    const captured = client.callsOf('captureException');
    const cause = (captured[0]?.[0] as Error | undefined)?.cause as Error | undefined;
    return { called, given: captured.map(({ length }) => length), cause: cause?.name };
  });
  expect(seen).toEqual({
    called: [[{ event: '$exception', uuid: 'Error: Kaboom' }, 'Kaboom', true]],
    given: [1],
    cause: 'React ErrorBoundary Error',
  });
});

it('exports the warning under the name that application tests use', () => {
  expect(__POSTHOG_ERROR_MESSAGES).toEqual({ INVALID_FALLBACK: invalidFallback });
});
