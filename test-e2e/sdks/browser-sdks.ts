import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '@millrace/testing';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { installedVersion } from './installed-version.ts';
import { startPageServer } from './page-server.ts';
import type { Call, Sdk } from './sdk.ts';

const packages = [
  { packageName: 'posthog-js', bundle: 'module.js', options: {} },
  { packageName: 'posthog-js-1.257', bundle: 'module.js', options: {} },
  // Nobody tells it of gzip, so it packs as base64, in which each half of an emoji is UTF-8 of its own.
  { packageName: 'posthog-js-1.100', bundle: 'es.js', options: { advanced_disable_decide: true } },
];

const text = 'Grüße 👋';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function browserSdks(): Sdk[] {
  const executablePath = findChromium();
  return packages.map(({ packageName, bundle, options }) => ({
    name: `posthog-js ${installedVersion(packageName)}`,
    kind: 'browser',
    calls: ['capture', 'identify', 'alias', 'group identify', 'batch', 'unload'],
    unavailable: executablePath === null ? 'there is no Chromium' : null,
    async open(target) {
      const site = await startPageServer(packageName, bundle, options);
      const profile = await mkdtemp(join(tmpdir(), 'millrace-chromium-'));
      const context = await chromium.launchPersistentContext(profile, {
        executablePath: executablePath ?? '',
        headless: true,
        args: flags,
      });
      const complaints: string[] = [];
      const page = await openPage(context, complaints);
      await page.goto(site.pageUrl(target));
      await page.waitForFunction('window.posthog !== undefined');
      await page.evaluate(`window.text = ${JSON.stringify(text)}`);
      return {
        complaints,
        make: (call) => makeCall(page, call, new URL('/left', site.pageUrl(target)).href),
        async close() {
          await context.close();
          await site.stop();
          await rm(profile, { recursive: true, force: true });
        },
      };
    },
  }));
}

async function openPage(context: BrowserContext, complaints: string[]): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  return page;
}

/** What the page itself runs; the browser's user is nobody until `identify`. */
const scripts: Partial<Record<Call, string>> = {
  capture: `posthog.capture('order placed',
    { total: 42, currency: 'EUR', nested: { list: [1, 'zwei', null, true] }, text })`,
  identify: `posthog.identify('ada', { email: 'ada@example.com', plan: 'pro' })`,
  alias: `posthog.alias('main-id')`,
  'group identify': `posthog.group('company', 'acme', { name: 'Acme', seats: 5 }); posthog.capture('seat used')`,
  batch: `for (let n = 0; n < 50; n++) posthog.capture('tick', { n })`,
};

async function makeCall(page: Page, call: Call, otherPage: string): Promise<void> {
  if (call !== 'unload') {
    await page.evaluate(`{ ${scripts[call]} }`);
    return;
  }
  // An event still waiting in the SDK's queue leaves with the page, by beacon.
  await page.evaluate(`{ posthog.capture('last words') }`);
  await page.goto(otherPage);
}
