import type { CDPSession, Page } from 'playwright-core';
import type { InitOptions } from '../../src/client/client.ts';
import { referenceFiles, referenceOptions } from '../support/reference-files.ts';
import { type Lab, plainOptions, startLab } from '../support/start-lab.ts';

let lab: Lab;
/** All tests share this page, and each test sets its own user agent. */
let page: Page;
let devTools: CDPSession;

beforeAll(async () => {
  lab = await startLab({ files: await referenceFiles() });
  page = await (await lab.visitors.next()).newPage();
  devTools = await page.context().newCDPSession(page);
});
afterAll(() => lab.stop());

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X)';
const android = 'Mozilla/5.0 (Linux; Android 14; Pixel 8)';

const agents = [
  `${windows} ${webkit} Chrome/130.0.0.0 Safari/537.36`,
  `${windows} ${webkit} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.2849.46`,
  `${windows} ${webkit} Chrome/129.0.0.0 Safari/537.36 OPR/115.0.0.0`,
  `${windows} ${webkit} Chrome/130.0.0.0 Safari/537.36 Vivaldi/7.0.3495.6`,
  `${windows} ${webkit} Chrome/128.0.0.0 YaBrowser/24.10.0.0 Safari/537.36`,
  `${windows} ${webkit} Chrome/128.0.0.0 Whale/3.28.266.14 Safari/537.36`,
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0',
  'Mozilla/5.0 (Windows NT 6.1; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36',
  `${mac} ${safari} Version/17.6 Safari/605.1.15`,
  `${mac} ${safari} Version/17.5 Safari/605.1.15 Ddg/17.5`,
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:131.0) Gecko/20100101 Firefox/131.0',
  'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0',
  `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/130.0.0.0 Safari/537.36`,
  `${iphone} ${safari} Version/17.4.1 Mobile/15E148 Safari/604.1`,
  `${iphone} ${safari} CriOS/130.0.6723.37 Mobile/15E148 Safari/604.1`,
  `${iphone} ${safari} FxiOS/131.0 Mobile/15E148 Safari/605.1.15`,
  `${iphone} ${safari} Mobile/15E148 [FBAN/FBIOS;FBAV/485.0.0]`,
  `Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) ${safari} Version/17.4 Mobile/15E148 Safari/604.1`,
  `${android} ${webkit} Chrome/130.0.0.0 Mobile Safari/537.36`,
  `Mozilla/5.0 (Linux; Android 13; SM-X200) ${webkit} Chrome/130.0.0.0 Safari/537.36`,
  `Mozilla/5.0 (Linux; Android 14; SM-S918B) ${webkit} SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36`,
  'Mozilla/5.0 (Android 14; Mobile; rv:131.0) Gecko/131.0 Firefox/131.0',
  `Mozilla/5.0 (Linux; Android 12; Quest 3) ${webkit} OculusBrowser/35.2.0 Chrome/126.0.0.0 VR Safari/537.36`,
  `Mozilla/5.0 (PlayStation; PlayStation 5/6.00) ${safari} Version/16.0 Safari/605.1.15`,
];

test.each(agents)('%s: reports the same browser, operating system and device as posthog-js', async (userAgent) => {
  await devTools.send('Emulation.setUserAgentOverride', { userAgent });
  const seen = [];
  for (const path of ['/shop', '/reference']) {
    await page.goto(lab.site.url + path);
    await page.waitForFunction(() => window.posthog !== undefined);
    const options = { api_host: lab.ingest.url, ...plainOptions, ...(path === '/reference' && referenceOptions) };
    const properties = await page.evaluate((given) => {
      window.posthog.init('phc_test', given as InitOptions);
      return window.posthog.capture('one')?.properties ?? {};
    }, options as object);
    const names = ['$os', '$os_version', '$browser', '$browser_version', '$device', '$device_type', '$raw_user_agent'];
    seen.push(Object.fromEntries(names.map((name) => [name, properties[name]])));
  }
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]?.$raw_user_agent).toBe(userAgent);
});
