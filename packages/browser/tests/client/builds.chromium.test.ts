import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@millrace/testing';
import { bundleLibrary, bundles } from '../../bundle/bundle-library.ts';
import { openPage } from '../support/open-page.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  const { code } = await bundleLibrary('slim.js');
  const page = '<!doctype html><title>Slim</title><script type="module" src="/slim-page.js"></script>';
  lab = await startLab({
    files: {
      '/slim.js': { type: 'text/javascript', content: code },
      '/slim-page.js': {
        type: 'text/javascript',
        content: `import posthog from '/slim.js'; window.posthog = posthog;`,
      },
      '/slim': { type: 'text/html', content: page },
    },
  });
});
afterAll(() => lab.stop());

test('the slim build captures events, identifies visitors and reads flags without loading other scripts', async () => {
  lab.ingest.flags = { 'beta-nav': true };
  const { page, complaints } = await lab.visit({ path: '/slim', isStarted: false });
  const seen = await page.evaluate(async (api_host) => {
    const { posthog } = window;
    posthog.init('phc_slim', { api_host, feature_flag_request_timeout_ms: 90_000 });
    posthog.register({ plan: 'pro' });
    posthog.identify('user-1');
    await new Promise((resolve) => posthog.onFeatureFlags(() => posthog.isFeatureEnabled('beta-nav') && resolve(true)));
    posthog.startSessionRecording();
    return posthog.capture('slim', { a: 1 }, { send_instantly: true })?.properties;
  }, lab.ingest.url);
  expect(seen).toMatchObject({
    plan: 'pro',
    distinct_id: 'user-1',
    '$feature/beta-nav': true,
    $process_person_profile: true,
  });
  await eventually(() => lab.ingest.events('slim').length === 1);
  expect(complaints).toEqual([]);
});

test.each(['/shop', '/slim'])('importing the library has no side effects (%s)', async (path) => {
  const visitor = await lab.browser.newContext();
  await visitor.clock.install();
  const requested: string[] = [];
  visitor.on('request', (request) => requested.push(request.url()));
  const { page, complaints } = await openPage(visitor, lab.site.url + path);
  await page.waitForFunction(() => window.posthog !== undefined);
  await visitor.clock.runFor(600_000);
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
  const others = requested.filter((address) => !address.startsWith(lab.site.url));
  expect([stored, others, complaints]).toEqual([[0, 0, ''], [], []]);
});

test.each(Object.keys(bundles) as (keyof typeof bundles)[])(
  'the build %s does nothing on a server, and does not leak memory',
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-server-'));
    try {
      await writeFile(join(folder, 'library.mjs'), (await bundleLibrary(name)).code);
      const script = `
      // Other libraries may define window on a server.
      globalThis.window = globalThis;
      const { default: posthog } = await import('./library.mjs');
      if (posthog) {
        posthog.capture('before');
        posthog.init('phc_test', { api_host: 'http://127.0.0.1:9', bootstrap: { featureFlags: { a: true } } });
        posthog.capture('after');
        posthog.identify('user-1');
        posthog.onFeatureFlags(() => {})();
        // Components add a listener for each request. Create it with the Function constructor, so that this scope does
        // not keep it in memory.
        globalThis.listener = new WeakRef(new Function('return () => {}')());
        posthog.onFeatureFlags(globalThis.listener.deref());
        await new Promise((resolve) => setTimeout(resolve));
        globalThis.gc();
        console.log(JSON.stringify([posthog.__loaded, posthog.config.bootstrap, posthog.featureFlags.getFlags(), posthog.get_distinct_id(), listener.deref() === undefined]));
      }`;
      await writeFile(join(folder, 'server.mjs'), script);
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [
        '--expose-gc',
        join(folder, 'server.mjs'),
      ]);
      expect(stderr).toBe('');
      // A classic script has no exports.
      expect(stdout.trim()).toBe(
        bundles[name].format === 'iife' ? '' : '[false,{"featureFlags":{"a":true}},[],null,true]',
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test('sends and stores events on a file: page, even without cookies and an origin', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-page-'));
  try {
    await writeFile(join(folder, 'array.js'), (await bundleLibrary('array.js')).code);
    const init = `posthog.init('phc_disk', { api_host: '${lab.ingest.url}', opt_out_useragent_filter: true });`;
    const content = `<!doctype html><title>Disk</title><script src="array.js"></script><script>${init}</script>`;
    await writeFile(join(folder, 'page.html'), content);
    lab.ingest.clear();
    const address = pathToFileURL(join(folder, 'page.html')).href;
    const { page, complaints } = await openPage(await lab.browser.newContext(), address);
    const id = await page.evaluate(() => window.posthog.get_distinct_id());
    await page.evaluate(() => window.posthog.capture('from the disk'));
    await page.reload();
    expect(await page.evaluate(() => window.posthog.get_distinct_id())).toBe(id);
    const event = await eventually(() => lab.ingest.events('from the disk').at(0) ?? false);
    expect(event.properties).toMatchObject({ distinct_id: id, $current_url: address });
    await eventually(() => lab.ingest.events('$pageleave').length > 0);
    expect(complaints).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
