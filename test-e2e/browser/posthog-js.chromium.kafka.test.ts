import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLibrary } from '@millrace/browser/bundle';
import { eventually } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { startPageServer } from '../sdks/page-server.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

/**
 * `posthog-js` loads further scripts, depending on the environment's settings. The gateway must serve all of them,
 * because a 404 response would cause a console error on every page.
 */
const releases: [packageName: string, bundle: string][] = [
  ['posthog-js', 'module.js'],
  ['posthog-js-1.257', 'module.js'],
  ['posthog-js-1.100', 'es.js'],
];

let services: RunningServices;
let browser: Browser;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-library-'));
  await writeLibrary(directory, { isQuick: true });
  [services, browser] = await Promise.all([
    startServices({ eventLog: 'kafka', managementApi: false, settings: { BROWSER_LIBRARY_DIRECTORY: directory } }),
    launchChromium(),
  ]);
  const { rows } = await services.database.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'environment' AND data_type = 'boolean'`,
  );
  expect(rows.map(({ name }) => name)).toContain('capture_dead_clicks');
  const values = rows.map(({ name }) => `${name} = ${!name.endsWith('_opt_out')}`).join(', ');
  await services.database.query(`UPDATE environment SET ${values}`);
});
afterAll(async () => {
  await browser?.close();
  await services?.stop();
  await rm(directory, { recursive: true });
});

test.each(releases)(
  'with every setting on, %s requests only paths that the gateway serves',
  async (packageName, bundle) => {
    const site = await startPageServer(packageName, bundle, {});
    const visitor = await browser.newContext();
    const page = await visitor.newPage();
    const [requested, errors]: [string[], string[]] = [[], []];
    page.on('response', (response) => {
      if (response.url().startsWith(services.ingestUrl))
        requested.push(`${response.status()} ${new URL(response.url()).pathname}`);
    });
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(site.pageUrl({ ingestUrl: services.ingestUrl, projectApiKey: services.tenant.projectApiKey }));
    await page.waitForFunction('window.posthog?.__loaded');
    // Trigger every kind of capture: a click without effect, a mouse movement, an error and a web vital.
    await eventually(() => requested.some((response) => /config|decide|flags/.test(response)));
    for (let at = 0; at < 4; at++) await page.mouse.click(20, 200);
    await page.mouse.move(40, 200);
    await page.evaluate(`setTimeout(() => { throw new Error('of the page'); })`);
    await page.reload();
    await page.waitForFunction('window.posthog?.__loaded');
    await page.waitForLoadState('networkidle');
    expect(requested.filter((response) => !response.startsWith('200'))).toEqual([]);
    expect(errors.filter((text) => !text.includes('of the page'))).toEqual([]);
    await visitor.close();
    await site.stop();
  },
);
