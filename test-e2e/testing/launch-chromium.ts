import { type Browser, chromium } from 'playwright-core';
import { patienceMs } from './eventually.ts';
import { findChromium } from './find-browser.ts';

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
 * A Chromium that does nothing but what it is driven to; each visitor is a context of it.
 *
 * @param keepsPages for the back button, as browsers do, but not those that are driven.
 * @param more of Chromium's switches.
 * @throws Error when there is none on this machine.
 */
export async function launchChromium({ keepsPages = false, more = [] as string[] } = {}): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('There is no Chromium: set CHROMIUM_PATH, or run npm test');
  const ignoreDefaultArgs = keepsPages ? ['--disable-back-forward-cache'] : [];
  const args = [...switches, ...more];
  const browser = await chromium.launch({ executablePath, headless: true, args, ignoreDefaultArgs });
  // Whoever waits for a page waits as long as `eventually`.
  browser.on('context', (visitor) => visitor.setDefaultTimeout(patienceMs));
  return browser;
}
