import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { patienceMs } from './eventually.ts';
import { findChromium, findWindowedChromium } from './find-browser.ts';
import { workerFixture } from './worker-fixture.ts';

/**
 * Features to disable: those that Playwright disables, whose list this one replaces, and those with which Chromium
 * starts processes for other pages in advance.
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
 * Launches a Chromium without background activity. Each visitor is a browser context. Unless there are additional
 * switches, all test files of this worker process share one browser. Closing it only closes the visitors of this call.
 *
 * @param keepsPages whether to keep pages that were left in the back/forward cache, which automation disables
 * @param more additional switches of Chromium
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
 * Launches a Chromium that no other test file uses. Closing it ends its process.
 * @throws Error if Chromium is not installed
 */
export async function launchSeparateChromium({ keepsPages = false, more = [] as string[] } = {}): Promise<Browser> {
  const executablePath = keepsPages ? findWindowedChromium() : findChromium();
  if (executablePath === null) throw new Error('Chromium not found: set CHROMIUM_PATH, or run npm test');
  const ignoreDefaultArgs = keepsPages ? ['--disable-back-forward-cache'] : [];
  const args = [...switches, ...more];
  const start = () => chromium.launch({ executablePath, headless: true, args, ignoreDefaultArgs });
  // On a busy machine, Chromium sometimes exits while it starts. Without a second attempt, a whole test file would
  // fail.
  const browser = await start().catch(start);
  // The timeout for pages is the same as in `eventually`.
  browser.on('context', (visitor) => visitor.setDefaultTimeout(patienceMs));
  return browser;
}

/** Returns the shared browser. The result closes only the visitors of one test file. */
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
