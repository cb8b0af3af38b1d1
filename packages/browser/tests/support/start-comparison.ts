import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { eventually, patienceMs } from '@millrace/testing';
import type { Browser, Page } from 'playwright-core';
import { openPage } from './open-page.ts';
import { startScriptedIngest } from './scripted-ingest.ts';
import { startSite } from './start-site.ts';

export interface Step {
  html: string;
  /** A script that runs in the page. It can use `stage`, and `at(selector)` for elements in the stage. */
  act: string;
  /** Options that apply to both libraries during this step only. */
  options?: Record<string, unknown>;
}

/** The events that a library captured in a step, with only the properties that differ between events. */
export type Captured = { event: string; properties: Record<string, unknown> }[];

export interface Comparison {
  page: Page;
  run(step: Step): Promise<{ ours: Captured; reference: Captured }>;
  stop(): Promise<void>;
}

const initial = {
  opt_out_useragent_filter: true,
  // This option is also the timeout for the settings.
  feature_flag_request_timeout_ms: patienceMs,
  rate_limiting: { events_per_second: 100_000, events_burst_limit: 1_000_000 },
  capture_pageview: false,
  capture_pageleave: false,
  disable_session_recording: true,
  disable_surveys: true,
  autocapture: true,
  mask_all_text: false,
  mask_all_element_attributes: false,
  rageclick: true,
};

/** Opens a page that runs this library and posthog-js. Both receive the same DOM events. */
export async function startComparison(browser: Browser, config: Record<string, unknown> = {}): Promise<Comparison> {
  const reference = createRequire(import.meta.url).resolve('posthog-js/dist/module.no-external.js');
  const ingest = await startScriptedIngest();
  Object.assign(ingest.config, { hasFeatureFlags: false, ...config });
  const site = await startSite({
    body: `<div id="stage"></div><script type="module">import reference from '/reference.js'; window.reference = reference;</script>`,
    files: { '/reference.js': { type: 'text/javascript', content: readFileSync(reference, 'utf8') } },
  });
  const visitor = await browser.newContext();
  const { page } = await openPage(visitor, site.url);
  await page.waitForFunction('window.posthog && window.reference');
  // posthog-js listens for copy events only if the option is set when it receives its settings.
  const copying = { autocapture: { capture_copied_text: true } };
  await page.evaluate(start, { host: ingest.url, initial: { ...initial, ...copying } });
  const run: Comparison['run'] = ({ html, act, options = {} }) =>
    page.evaluate(take, { html, act, options: { ...initial, ...options }, usual: initial });
  await eventually(async () => {
    const { ours, reference } = await run({
      html: '<button>Begin</button>',
      act: `at('button').click()`,
      options: copying,
    });
    return ours.length > 0 && reference.length > 0;
  });

  return {
    page,
    run,
    async stop() {
      await visitor.close();
      await site.stop();
      await ingest.stop();
    },
  };
}

interface Library {
  init(token: string, options: object): void;
  set_config(options: object): void;
  capture(name: string): void;
  on(name: 'eventCaptured', listener: (event: Captured[number]) => void): () => void;
}
type Libraries = { posthog: Library; reference: Library };

function start({ host, initial }: { host: string; initial: object }): void {
  const { posthog, reference } = window as unknown as Libraries;
  posthog.init('phc_ours', { api_host: host, ...initial });
  reference.init('phc_reference', { api_host: host, ...initial });
}

async function take({
  html,
  act,
  options,
  usual,
}: Required<Step> & { usual: object }): Promise<{ ours: Captured; reference: Captured }> {
  const { posthog, reference } = window as unknown as Libraries;
  const stage = document.querySelector('#stage') as HTMLElement;
  // Click far away, so that this step's clicks and the next step's click do not form a rage click.
  for (const library of [posthog, reference]) library.set_config(usual);
  stage.innerHTML = '<button>Far</button>';
  stage.firstElementChild?.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: 9999 }));
  posthog.capture('far');
  stage.innerHTML = html;
  const at = (selector: string) => stage.querySelector(selector);
  const listen = (library: Library) => {
    const events: Captured = [];
    library.set_config(options);
    const stop = library.on('eventCaptured', ({ event, properties }) => events.push({ event, properties }));
    return (): Captured => {
      library.capture('usual');
      stop();
      const usual = events.pop()?.properties ?? {};
      return events.map(({ event, properties }) => ({
        event,
        properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !(name in usual))),
      }));
    };
  };
  const [oursOf, referencesOf] = [listen(posthog), listen(reference)];
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await new AsyncFunction('stage', 'at', `${act}\n//# sourceURL=${location.origin}/step.js`)(stage, at);
  return { ours: oursOf(), reference: referencesOf() };
}
