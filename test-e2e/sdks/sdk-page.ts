import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, Page } from 'playwright-core';
import { type PageServer, startPageServer } from './page-server.ts';
import type { Target } from './sdk.ts';

export interface BrowserSdkPackage {
  packageName: string;
  /** Name of a file in the package's `dist`. */
  bundle: string;
  /** The SDK's options, in addition to those that every page needs. */
  options: object;
}

export interface SdkPage {
  page: Page;
  otherPage: string;
  complaints: string[];
  close(): Promise<void>;
}

/** Opens a page in a separate browser. The page has started the SDK as `window.posthog`. */
export async function openSdkPage(
  { packageName, bundle, options }: BrowserSdkPackage,
  target: Target,
): Promise<SdkPage> {
  const site: PageServer = await startPageServer(packageName, bundle, options);
  const browser = await launchChromium();
  const complaints: string[] = [];
  const page = await openPage(browser, complaints);
  await page.goto(site.pageUrl(target));
  await page.waitForFunction('window.posthog !== undefined');
  return {
    page,
    otherPage: new URL('/left', site.pageUrl(target)).href,
    complaints,
    async close() {
      await browser.close();
      await site.stop();
    },
  };
}

async function openPage(browser: Browser, complaints: string[]): Promise<Page> {
  const page = await browser.newPage();
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  return page;
}
