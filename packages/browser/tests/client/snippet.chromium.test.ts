import { eventually } from '@millrace/testing';
import { bundleLibrary } from '../../bundle/bundle-library.ts';
import { openPage } from '../support/open-page.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

/** The snippet from PostHog's documentation, with the names of all methods added. */
const stub = `!function(t,e){var o,n,p,r;e.__SV||(window.posthog=e,e._i=[],e.init=function(i,s,a){function g(t,e){var o=e.split(".");2==o.length&&(t=t[o[0]],e=o[1]),t[e]=function(){t.push([e].concat(Array.prototype.slice.call(arguments,0)))}}(p=t.createElement("script")).type="text/javascript",p.crossOrigin="anonymous",p.async=!0,p.src=s.api_host.replace(".i.posthog.com","-assets.i.posthog.com")+"/static/array.js",(r=t.getElementsByTagName("script")[0]).parentNode.insertBefore(p,r);var u=e;for(void 0!==a?u=e[a]=[]:a="posthog",u.people=u.people||[],u.toString=function(t){var e="posthog";return"posthog"!==a&&(e+="."+a),t||(e+=" (stub)"),e},u.people.toString=function(){return u.toString(1)+".people (stub)"},o="init capture register register_once register_for_session unregister unregister_for_session getFeatureFlag getFeatureFlagPayload isFeatureEnabled reloadFeatureFlags updateEarlyAccessFeatureEnrollment getEarlyAccessFeatures on onFeatureFlags onSessionId getSurveys getActiveMatchingSurveys renderSurvey canRenderSurvey getNextSurveyStep identify setPersonProperties group resetGroups setPersonPropertiesForFlags resetPersonPropertiesForFlags setGroupPropertiesForFlags resetGroupPropertiesForFlags reset get_distinct_id getGroups get_session_id get_session_replay_url alias set_config startSessionRecording stopSessionRecording sessionRecordingStarted captureException loadToolbar get_property getSessionProperty createPersonProfile opt_in_capturing opt_out_capturing has_opted_in_capturing has_opted_out_capturing clear_opt_in_out_capturing debug people.set people.set_once".split(" "),n=0;n<o.length;n++)g(u,o[n]);e._i.push([i,s,a])},e.__SV=1)}(document,window.posthog||[]);`;

let pages = 0;

async function open(script: string): ReturnType<typeof openPage> {
  pages += 1;
  const path = `/with-snippet-${pages}`;
  files[path] = {
    type: 'text/html',
    content: `<!doctype html><head><script>${stub}\n${script}</script></head><body></body>`,
  };
  const visit = await openPage(await lab.browser.newContext(), lab.site.url + path);
  await visit.page.waitForFunction(() => window.posthog?.__loaded === true);
  return visit;
}

const files: Record<string, { type: string; content: string }> = {};

beforeAll(async () => {
  lab = await startLab({ files });
  const { code } = await bundleLibrary('array.js');
  lab.ingest.respondWith(({ path }) => (/\/array\.js$/.test(path) ? { body: code } : undefined));
});
afterAll(() => lab.stop());

const options = () =>
  `{ api_host: '${lab.ingest.url}', opt_out_useragent_filter: true, capture_pageview: false, flushAt: 1 }`;

test('replays calls that were made before the library loaded: aliases first, captures last', async () => {
  const { page, complaints } = await open(`
    posthog.init('phc_snippet', ${options()});
    posthog.capture('early', { total: 42 });
    posthog.register({ plan: 'pro' });
    posthog.identify('user-1');
    posthog.people.set({ email: 'u@example.test' });
    posthog.people.set_once('source', 'letter');
    posthog.getNextSurveyStep('unknown here');
  `);
  const event = await eventually(() => lab.ingest.events('early').at(0) ?? false);
  expect(event.properties).toMatchObject({ total: 42, plan: 'pro', distinct_id: 'user-1' });
  const [set, once] = await eventually(() => lab.ingest.events('$set').length > 1 && lab.ingest.events('$set'));
  expect([set?.properties.$set, once?.properties.$set_once]).toEqual([
    { email: 'u@example.test' },
    { source: 'letter' },
  ]);
  expect(await page.evaluate(() => typeof window.posthog.capture('late')?.uuid)).toBe('string');
  expect(complaints).toEqual([]);
});

test('keeps the client if the page loads the snippet or library again', async () => {
  const { page } = await open(`posthog.init('phc_snippet', ${options()});`);
  await page.evaluate(() => void Object.assign(window, { before: window.posthog }));
  await page.addScriptTag({ content: stub });
  const isSame = await page.evaluate(() => (window as unknown as { before: unknown }).before === window.posthog);
  expect(isSame).toBe(true);
  await page.addScriptTag({ url: `${lab.ingest.url}/static/array.js` });
  expect(await page.evaluate(() => window.posthog.config.token)).toBe('phc_snippet');
});

test("sends the events of each client on a page with that client's token", async () => {
  const { page } = await open(`
    posthog.init('phc_one', ${options()});
    posthog.init('phc_two', ${options()}, 'second');
    posthog.capture('of one');
  `);
  const second = await page.evaluate(() => {
    const client = (window.posthog as unknown as { second: typeof window.posthog }).second;
    return client.capture('of two')?.properties.token;
  });
  expect(second).toBe('phc_two');
  const event = await eventually(() => lab.ingest.events('of one').at(0) ?? false);
  expect(event.properties.token).toBe('phc_one');
});

test("without api_host, sends events to the script's host", async () => {
  const { page } = await lab.visit({ isStarted: false });
  const seen = await page.evaluate(
    (host) =>
      new Promise((resolve) => {
        Object.assign(window, { posthog: undefined });
        const script = document.createElement('script');
        script.src = `${host}/array/phc_own/array.js`;
        script.onload = () => {
          window.posthog.init('phc_own', { opt_out_useragent_filter: true });
          resolve(window.posthog.config.api_host);
        };
        document.head.append(script);
      }),
    lab.ingest.url,
  );
  expect(seen).toBe(lab.ingest.url);
});

test('posthog.push calls the method with the given name', async () => {
  const { page } = await open(`posthog.init('phc_snippet', ${options()});`);
  await page.evaluate(() => {
    (window.posthog as unknown as { push(call: unknown[]): void }).push(['register', { pushed: 1 }]);
  });
  expect(await page.evaluate(() => window.posthog.capture('one')?.properties.pushed)).toBe(1);
});
