import { setTimeout as sleep } from 'node:timers/promises';
import { createFaultProxy } from '../fault-proxy.ts';
import { launchChromium } from '../launch-chromium.ts';
import { seededRandom } from '../seeded-random.ts';
import { type RequestOutcome, startFlakyHost } from './flaky-host.ts';
import { startShopSite } from './shop-site.ts';
import { type CapturedEvent, createVisitor, type Entrance, entrances } from './visitor.ts';

export interface ShopVisitsOptions {
  /** Source code of the library, as a module. */
  librarySource: string;
  gatewayPort: number;
  projectApiKey: string;
  pages: number;
  visitors: number;
  seed: number;
}

/** The results of the visits, as seen by the visitors and by the host in front of the gateway. */
export interface ShopVisits {
  pages: number;
  /** The events whose `capture` call has returned: their distinct IDs, by event UUID. */
  captured: Map<string, string>;
  entered: Record<Entrance, number>;
  requests: Record<RequestOutcome, number>;
  sent: Map<string, number>;
  /** How often the host in front of the gateway was unavailable or unresponsive. */
  outages: number;
  /** Number of failed visits. A visit fails, for example, if a different tab crashes in the same process. */
  interrupted: number;
}

/** Fraction of requests that fail during the visits. */
const trouble = 0.25;

/**
 * Visitors load a shop's pages in every way that a browser supports, while the connection to the gateway fails in every
 * possible way. At the end, the connection works, and each visitor waits on a final page until the queue is empty.
 */
export async function visitShop(options: ShopVisitsOptions): Promise<ShopVisits> {
  const { librarySource, gatewayPort, projectApiKey, pages, visitors, seed } = options;
  const random = seededRandom(seed);
  const host = await startFlakyHost(gatewayPort, random);
  const proxy = await createFaultProxy({ targetPort: host.port });
  const address = `http://${proxy.host}:${proxy.port}`;
  const site = await startShopSite({ '/millrace.js': librarySource }, projectApiKey, shopOptions(address));
  const browser = await launchChromium({ keepsPages: true });
  const entered = Object.fromEntries(entrances.map((name) => [name, 0])) as Record<Entrance, number>;
  const visits: ShopVisits = {
    ...{ pages: 0, captured: new Map<string, string>(), entered, requests: host.counts, sent: host.sent },
    ...{ outages: 0, interrupted: 0 },
  };
  const onCaptured = (events: CapturedEvent[]) => {
    for (const [uuid, distinctId] of events) visits.captured.set(uuid, distinctId);
  };
  const isOver = () => visits.pages >= pages;

  async function visitAgainAndAgain(): Promise<() => Promise<void>> {
    const context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    const visitor = createVisitor(context, { siteUrl: site.url, random, onCaptured, entered });
    while (!isOver()) {
      visits.pages += 1;
      await visitor.visit().catch(async (error) => {
        if (!browser.isConnected()) throw new Error('The browser is gone', { cause: error });
        visits.interrupted += 1;
        await visitor.recover();
      });
    }
    await visitor.recover();
    return visitor.finish;
  }
  async function breakTheWay(): Promise<void> {
    while (!isOver()) {
      await sleep(2000 + random() * 4000);
      visits.outages += 1;
      if (random() < 0.5) await proxy.refuse();
      else proxy.blackHole();
      await sleep(500 + random() * 2500);
      await proxy.pass();
    }
  }

  try {
    host.setTrouble(trouble);
    const visiting = Promise.all(Array.from({ length: visitors }, visitAgainAndAgain));
    const [finishes] = await Promise.all([visiting, breakTheWay()]);
    host.setTrouble(0);
    await Promise.all(finishes.map((finish) => finish()));
    return visits;
  } finally {
    await browser.close();
    await Promise.all([proxy.stop(), host.stop(), site.stop()]);
  }
}

/** Returns options that capture everything and turn off all requests except event requests. */
function shopOptions(address: string): Record<string, unknown> {
  return {
    ...{ api_host: address, opt_out_useragent_filter: true, advanced_disable_flags: true },
    rate_limiting: { events_per_second: 10_000, events_burst_limit: 100_000 },
  };
}
