import { findChromium } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { readInstalledVersion } from './installed-version.ts';
import type { Call, Sdk } from './sdk.ts';
import { openSdkPage } from './sdk-page.ts';

const packages = [
  { packageName: 'posthog-js', bundle: 'module.js', options: {} },
  { packageName: 'posthog-js-1.257', bundle: 'module.js', options: {} },
  // Without a server response, posthog-js 1.100 does not use gzip. It encodes the body as base64, and each half of an
  // emoji as separate UTF-8.
  { packageName: 'posthog-js-1.100', bundle: 'es.js', options: { advanced_disable_decide: true } },
];

const text = 'Grüße 👋';

export function createBrowserSdks(): Sdk[] {
  return packages.map(({ packageName, bundle, options }) => ({
    name: `posthog-js ${readInstalledVersion(packageName)}`,
    kind: 'browser',
    calls: ['capture', 'identify', 'alias', 'group identify', 'batch', 'unload'],
    unavailable: findChromium() === null ? 'there is no Chromium' : null,
    async open(target) {
      const { page, otherPage, complaints, close } = await openSdkPage({ packageName, bundle, options }, target);
      await page.evaluate(`window.text = ${JSON.stringify(text)}`);
      return { complaints, make: (call) => makeCall(page, call, otherPage), close };
    },
  }));
}

/** Scripts that run in the page. The visitor is anonymous until the page calls `identify`. */
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
  // When the visitor leaves the page, the SDK sends queued events by beacon.
  await page.evaluate(`{ posthog.capture('last words') }`);
  await page.goto(otherPage);
}
