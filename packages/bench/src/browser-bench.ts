import { launchChromium } from '@millrace/testing/launch-chromium';
import { startScriptedIngest } from '../../browser/tests/support/scripted-ingest.ts';
import { measureClicks, measureInit, readPageScripts, startBenchSite } from './browser/measure-pages.ts';
import { type BrowserMeasurement, browserReport } from './report/browser-report.ts';
import { processorFacts } from './report/report.ts';

export interface BrowserBenchOptions {
  /** Pages on which each library starts. */
  visits: number;
  /** Pages with clicks, of each side. */
  pairs: number;
}

/** The client library beside PostHog's, in turn, in a real browser: start, clicks. */
export async function benchBrowser(
  { visits, pairs }: BrowserBenchOptions,
  print: (line: string) => void,
): Promise<void> {
  const scripts = await readPageScripts();
  const [browser, ingest, site] = await Promise.all([launchChromium(), startScriptedIngest(), startBenchSite(scripts)]);
  try {
    for (const line of processorFacts()) print(line);
    print(`browser     Chromium ${browser.version()}, processor slowed 4 times`);
    const pages = { browser, ingest, siteUrl: site.url };
    const initMs: BrowserMeasurement['initMs'] = { millrace: [], reference: [] };
    print(`starting each library on ${visits} pages`);
    for (let round = 0; round < visits; round += 1) {
      for (const library of ['millrace', 'reference'] as const) initMs[library].push(await measureInit(pages, library));
    }
    const clicks: BrowserMeasurement['clicks'] = [];
    for (let round = 1; round <= pairs; round += 1) {
      print(`clicking, round ${round} of ${pairs}`);
      for (const side of ['millrace', 'reference', 'none'] as const) clicks.push(await measureClicks(pages, side));
    }
    print('');
    print(browserReport({ initMs, clicks }));
  } finally {
    await browser.close();
    await Promise.all([site.stop(), ingest.stop()]);
  }
}
