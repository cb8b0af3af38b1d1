import { startServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Page } from 'playwright-core';
import { openPage, type Visit } from '../../../browser/tests/support/open-page.ts';
import { bundlePage, type ReactVersion, reactVersions } from './bundle-page.ts';

export interface KitPages {
  page(react: ReactVersion): Page;
  complaints(): string[];
  close(): Promise<void>;
}

export async function openKit(): Promise<KitPages> {
  const browser = await launchChromium();
  const visits = new Map<ReactVersion, Visit>();
  const site = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><html lang="en"><title>Kit</title><link rel="icon" href="data:,"></html>');
  });
  for (const react of reactVersions) {
    const visit = await openPage(await browser.newContext(), site.url);
    await visit.page.addScriptTag({ content: await bundlePage('kit.ts', { react }) });
    visits.set(react, visit);
  }
  return {
    page: (react) => visitOf(visits, react).page,
    complaints: () => [...visits.values()].flatMap(({ complaints }) => complaints.splice(0)),
    async close() {
      await browser.close();
      await site.stop();
    },
  };
}

function visitOf(visits: Map<ReactVersion, Visit>, react: ReactVersion): Visit {
  const visit = visits.get(react);
  if (!visit) throw new Error(`No page was opened for React ${react}`);
  return visit;
}
