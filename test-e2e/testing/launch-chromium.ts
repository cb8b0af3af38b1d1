import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { patienceMs } from './eventually.ts';
import { findChromium, findWindowedChromium } from './find-browser.ts';
import { workerFixture } from './worker-fixture.ts';

/**
 * Chromium features to disable. The list replaces Playwright's own list, so it contains the features that Playwright
 * disables, and also those that make Chromium start processes in advance.
 */
const disabledFeatures = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...[
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
  ],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  ...['PreconnectToSearch', 'SpareRendererForSitePerProcess'],
];

const switches = [
  `--disable-features=${disabledFeatures.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Launches a Chromium without background activity. Each visitor is a browser context. Without additional switches, all
 * test files in this worker process share one browser, and closing it closes only this call's visitors.
 * @param keepsPages whether to use the back/forward cache, which automation disables by default
 * @param more the additional Chromium switches
 * @throws Error if Chromium is not installed
 */
export async function launchChromium({ keepsPages = false, more = [] as string[] } = {}): Promise<Browser> {
  if (more.length > 0) return launchSeparateChromium({ keepsPages, more });
  return withOwnVisitors(await (keepsPages ? keepingChromium() : plainChromium()));
}

const shared = (keepsPages: boolean) =>
  workerFixture(() => launchSeparateChromium({ keepsPages }), {
    isUsable: (browser) => browser.isConnected(),
    stop: (browser) => browser.close(),
  });
const plainChromium = shared(false);
const keepingChromium = shared(true);

/**
 * Launches a Chromium that other test files do not use. Closing it ends its process.
 * @throws Error if Chromium is not installed
 */
export async function launchSeparateChromium({ keepsPages = false, more = [] as string[] } = {}): Promise<Browser> {
  const executablePath = keepsPages ? findWindowedChromium() : findChromium();
  if (executablePath === null) throw new Error('Chromium not found: set CHROMIUM_PATH, or run npm test');
  const ignoreDefaultArgs = keepsPages ? ['--disable-back-forward-cache'] : [];
  const args = [...switches, ...more];
  const start = () => chromium.launch({ executablePath, headless: true, args, ignoreDefaultArgs });
  // Chromium sometimes exits during its start on a busy machine. Try twice, because a single failure would fail an
  // entire test file.
  const browser = await start().catch(start);
  // Pages have the same timeout as `eventually`.
  browser.on('context', (visitor) => visitor.setDefaultTimeout(patienceMs));
  return browser;
}

/** Returns the shared browser with a `close` method that closes only the browser contexts of one test file. */
function withOwnVisitors(browser: Browser): Browser {
  const own: BrowserContext[] = [];
  const newContext: Browser['newContext'] = async (options) => {
    const visitor = await browser.newContext(options);
    own.push(visitor);
    return visitor;
  };
  return Object.assign(Object.create(browser), {
    newContext,
    newPage: async (options?: BrowserContextOptions) => (await newContext(options)).newPage(),
    contexts: () => browser.contexts().filter((visitor) => own.includes(visitor)),
    close: async () => void (await Promise.all(own.map((visitor) => visitor.close()))),
  });
}
