import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { patienceMs } from './eventually.ts';
import { findChromium, findWindowedChromium } from './find-browser.ts';
import { workerFixture } from './worker-fixture.ts';

/** Those that Playwright leaves out, whose list this one replaces; and processes begun in advance for pages that are never opened. */
const leftOut = [
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
  `--disable-features=${leftOut.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * A Chromium that does nothing but what it is driven to; each visitor is a context of it. Without further switches it is the one
 * that all test files of this worker process share: closing it closes the visitors that came through this call.
 *
 * @param keepsPages for the back button, as browsers do, but not those that are driven
 * @param more of Chromium's switches
 * @throws Error when no Chromium is installed
 */
export async function launchChromium({ keepsPages = false, more = [] as string[] } = {}): Promise<Browser> {
  if (more.length > 0) return launch(keepsPages, more);
  return withOwnVisitors(await (keepsPages ? keepingChromium() : plainChromium()));
}

const shared = (keepsPages: boolean) =>
  workerFixture(() => launch(keepsPages, []), {
    isUsable: (browser) => browser.isConnected(),
    stop: (browser) => browser.close(),
  });
const plainChromium = shared(false);
const keepingChromium = shared(true);

async function launch(keepsPages: boolean, more: string[]): Promise<Browser> {
  const executablePath = keepsPages ? findWindowedChromium() : findChromium();
  if (executablePath === null) throw new Error('Chromium not found: set CHROMIUM_PATH, or run npm test');
  const ignoreDefaultArgs = keepsPages ? ['--disable-back-forward-cache'] : [];
  const args = [...switches, ...more];
  const start = () => chromium.launch({ executablePath, headless: true, args, ignoreDefaultArgs });
  // On a busy machine Chromium sometimes ends before it can be driven, and a whole file of tests would fail.
  const browser = await start().catch(start);
  // Waiting for a page takes as long as `eventually` does.
  browser.on('context', (visitor) => visitor.setDefaultTimeout(patienceMs));
  return browser;
}

/** The shared browser as one test file sees it. */
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
