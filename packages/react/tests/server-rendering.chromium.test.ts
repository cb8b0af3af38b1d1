import { execFileSync } from 'node:child_process';
import type { Bootstrap } from '@millrace/browser';
import type { ServerCase, ServerResult } from './page/server.ts';
import { bundlePage, type ReactVersion, reactVersions } from './support/bundle-page.ts';
import { type KitPages, openKit } from './support/open-kit.ts';

let pages: KitPages;
beforeAll(async () => {
  pages = await openKit();
});
afterAll(() => pages.close());
afterEach(() => expect(pages.complaints()).toEqual([]));

async function renderOnServer(react: ReactVersion, cases: ServerCase[]): Promise<ServerResult[]> {
  const program = await bundlePage('server.ts', { react, platform: 'node' });
  const output = execFileSync(process.execPath, ['-', JSON.stringify(cases)], { input: program, encoding: 'utf8' });
  return JSON.parse(output) as ServerResult[];
}

const bootstrap: Bootstrap = { featureFlags: { test: 'blue', off: false }, featureFlagPayloads: { test: 5 } };
const nothingKnown = '<i>[false,null,null,null,[]]</i><p>Old</p>';
const bootstrapped = '<i>[true,&quot;blue&quot;,5,true,[&quot;test&quot;]]</i><div flag="test"><p>New</p></div>';

describe.each(reactVersions)('server rendering with React %s', (react) => {
  it('the server renders flags from the bootstrap or from its own client, and captures nothing', async () => {
    const flags = { test: 'blue' };
    const results = await renderOnServer(react, [
      { client: { hasLoaded: false } },
      { client: { hasLoaded: false }, bootstrap },
      { client: { flags, payloads: { test: 5 } } },
    ]);
    expect(results).toEqual([
      { html: nothingKnown, calls: [] },
      { html: bootstrapped, calls: [] },
      { html: bootstrapped, calls: [] },
    ]);
  });

  it.each<[string, { bootstrap?: Bootstrap; hasLoaded: boolean; server: string; later: string }]>([
    ['stored flags of the last visit', { hasLoaded: true, server: nothingKnown, later: 'green' }],
    [
      'bootstrapped flags, then stored flags of the last visit',
      { bootstrap, hasLoaded: true, server: bootstrapped, later: 'green' },
    ],
    ['bootstrapped flags', { bootstrap, hasLoaded: false, server: bootstrapped, later: 'blue' }],
  ])('hydrates the server-rendered page without an error: %s', async (_, { bootstrap, hasLoaded, server, later }) => {
    const [result] = await renderOnServer(react, [{ client: { hasLoaded: false }, ...(bootstrap && { bootstrap }) }]);
    expect(result?.html).toBe(server);
    const seen = await pages.page(react).evaluate(
      ({ html, bootstrap, hasLoaded }) => {
        kit.setDefaultPostHogInstance(kit.createRecordingClient({ flags: { test: 'green' }, hasLoaded }));
        const element = document.body.appendChild(document.createElement('main'));
        element.innerHTML = html;
        const before = element.firstElementChild;
        const complaints: string[] = [];
        const tree = kit.serverTree(bootstrap);
        const onRecoverableError = (error: unknown) => void complaints.push(String(error));
        let root: ReturnType<typeof kit.hydrateRoot> | undefined;
        kit.react.act(() => {
          root = kit.hydrateRoot(element, tree, { onRecoverableError });
        });
        const text = element.textContent;
        const isKept = element.firstElementChild === before;
        kit.react.act(() => root?.unmount());
        kit.setDefaultPostHogInstance(undefined);
        return { complaints, isKept, text };
      },
      { html: server, bootstrap: bootstrap as { featureFlags: Record<string, string> } | undefined, hasLoaded },
    );
    expect(seen).toEqual({ complaints: [], isKept: true, text: expect.stringContaining(`"${later}"`) });
  });
});
