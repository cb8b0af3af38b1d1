import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { eventually } from '../eventually.ts';

/** Ways to open a page, with their frequency in a hundred visits. */
const weights = {
  ...{ link: 40, reload: 20, 'new tab': 8, 'closed tab': 12, crash: 2, 'away and back': 9 },
  ...{ offline: 8.8, storm: 0.2 },
};
export type Entrance = keyof typeof weights;
export const entrances = Object.keys(weights) as Entrance[];

const maxTabs = 3;
/** Number of events that a page captures in a burst. The library cannot keep all of them while it cannot send. */
const stormEvents = 700;

interface VisitorOptions {
  siteUrl: string;
  random(): number;
  onCaptured(events: CapturedEvent[]): void;
  entered: Record<Entrance, number>;
}

export interface Visitor {
  visit(): Promise<void>;
  /** Recovers after a tab has crashed: goes online and closes all tabs. */
  recover(): Promise<void>;
  /** Opens a final page and waits until its queue is empty. */
  finish(): Promise<void>;
}

/** Creates a visitor who moves quickly through a shop with several tabs. */
export function createVisitor(context: BrowserContext, options: VisitorOptions): Visitor {
  const { random, onCaptured, entered } = options;
  const tabs = createVisitorTabs(context, options.siteUrl);
  const { open, goOn, ready } = tabs;
  const capture = async (tab: Page, count: number) => onCaptured(await tabs.capture(tab, count));

  async function captureOffline(tab: Page, count: number): Promise<Page> {
    await ready(tab);
    await context.setOffline(true);
    await capture(tab, count).finally(() => context.setOffline(false));
    return goOn(tab);
  }
  const ways: Record<Entrance, (tab: Page) => Promise<Page>> = {
    link: goOn,
    reload: (tab) => tab.reload({ waitUntil: 'commit' }).then(() => tab),
    async 'new tab'(tab) {
      if (tabs.all.length >= maxTabs) await tabs.close(tab);
      return open();
    },
    'closed tab': (tab) => tabs.close(tab).then(open),
    crash: (tab) => tabs.crash(tab).then(open),
    'away and back': (tab) => tab.goto('about:blank').then(() => goOn(tab)),
    offline: (tab) => captureOffline(tab, 5),
    storm: (tab) => captureOffline(tab, stormEvents),
  };
  return {
    async visit() {
      const tab = tabs.all[Math.floor(random() * tabs.all.length)] ?? (await open());
      const way = pickEntrance(random);
      entered[way] += 1;
      const entering = await ways[way](tab);
      await ready(entering);
      await capture(entering, 1 + Math.floor(random() * 4));
      if (random() < 0.5) await sleep(random() * 300);
      if (random() < 0.3) await capture(entering, 1 + Math.floor(random() * 25));
    },
    async recover() {
      await context.setOffline(false);
      for (const tab of [...tabs.all]) await tabs.close(tab).catch(() => {});
    },
    async finish() {
      const tab = await open();
      await ready(tab);
      const records = `Object.entries(localStorage).filter(([name]) => name.includes('_queue_')).map(([, text]) => text)`;
      const isEmpty = async () => {
        const texts = await tab.evaluate<string[]>(records);
        // Capture an event, because the library reports the number of dropped events only as part of an event.
        if (texts.length > 0 && texts.every((text) => text.startsWith('{"dropped"'))) await capture(tab, 1);
        return texts.length === 0;
      };
      await eventually(isEmpty, { what: 'An empty queue', intervalMs: 250 });
    },
  };
}

function pickEntrance(random: () => number): Entrance {
  let left = random() * 100;
  for (const entrance of entrances) {
    left -= weights[entrance];
    if (left < 0) return entrance;
  }
  return 'link';
}

export type CapturedEvent = [uuid: string, distinctId: string];

interface VisitorTabs {
  all: readonly Page[];
  pages(): number;
  open(): Promise<Page>;
  goOn(tab: Page): Promise<Page>;
  ready(tab: Page): Promise<unknown>;
  /** @returns the events whose `capture` call has returned */
  capture(tab: Page, count: number): Promise<CapturedEvent[]>;
  close(tab: Page): Promise<void>;
  /** Kills the tab's process, which may contain other tabs. */
  crash(tab: Page): Promise<void>;
}

function createVisitorTabs(context: BrowserContext, siteUrl: string): VisitorTabs {
  const all: Page[] = [];
  let pages = 0;

  async function goOn(tab: Page): Promise<Page> {
    pages += 1;
    await tab.goto(`${siteUrl}/page/${pages}`, { waitUntil: 'commit' });
    return tab;
  }
  /**
   * Chromium sometimes ignores a request to close a tab during navigation, and Playwright would then wait indefinitely.
   */
  async function close(tab: Page): Promise<void> {
    all.splice(all.indexOf(tab), 1);
    const closed = tab.close().then(() => true);
    if (await Promise.race([closed, sleep(5000, false)])) return;
    const session = await context.newCDPSession(tab);
    await Promise.race([session.send('Page.close'), closed]);
    await closed;
  }
  return {
    all,
    pages: () => pages,
    async open() {
      const tab = await context.newPage();
      all.push(tab);
      return goOn(tab);
    },
    goOn,
    ready: (tab) => tab.waitForFunction('window.posthog?.__loaded', null, { polling: 20 }),
    async capture(tab, count) {
      const names = Array.from({ length: count }, (_, n) => `seen ${pages}.${n}`);
      return tab.evaluate<CapturedEvent[]>(`window.capture(${JSON.stringify(names)})`);
    },
    close,
    async crash(tab) {
      const session = await context.newCDPSession(tab);
      const crashed = tab.waitForEvent('crash', { timeout: 10_000 });
      session.send('Page.crash').catch(() => {});
      await crashed;
      for (const one of [...all]) {
        const isAlive = await Promise.race([one.evaluate('true').catch(() => false), sleep(1000, false)]);
        if (!isAlive) await close(one).catch(() => {});
      }
    },
  };
}
