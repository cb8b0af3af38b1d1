import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { type PageServer, startPageServer } from './page-server.ts';
import type { Target } from './sdk.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface BrowserSdkPackage {
  packageName: string;
  /** Of the files in its `dist`. */
  bundle: string;
  /** Of the SDK, beside those every page needs. */
  options: object;
}

export interface SdkPage {
  page: Page;
  /** Address of another page of the site. */
  otherPage: string;
  /** Everything thrown, and every error and warning on the console. */
  complaints: string[];
  close(): Promise<void>;
}

/** A page in a browser of its own, on which the SDK has started as `window.posthog`. */
export async function openSdkPage(
  { packageName, bundle, options }: BrowserSdkPackage,
  executablePath: string,
  target: Target,
): Promise<SdkPage> {
  const site: PageServer = await startPageServer(packageName, bundle, options);
  const profile = await mkdtemp(join(tmpdir(), 'millrace-chromium-'));
  const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args: flags });
  const complaints: string[] = [];
  const page = await openPage(context, complaints);
  await page.goto(site.pageUrl(target));
  await page.waitForFunction('window.posthog !== undefined');
  return {
    page,
    otherPage: new URL('/left', site.pageUrl(target)).href,
    complaints,
    async close() {
      await context.close();
      await site.stop();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

async function openPage(context: BrowserContext, complaints: string[]): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  return page;
}
