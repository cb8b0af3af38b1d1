// Page views: of loaded pages, of routes and of pages that come back, and how far each was read.

import type { Core, Feature } from './client/core.ts';
import type { Properties } from './client/values.ts';
import { ofDocument, onDocument, stopSignal } from './page/globals.ts';

interface PageView {
  id: string;
  pathname: string;
  startedAt: Date;
}

/** Captures page views and the leaving of pages, and says of every event on which page view it happened. */
export const createPageViews: Feature = (core) => {
  const { signals, options } = core;
  const signal = stopSignal(core);
  const scroll = createScrollDepth(signal);
  let view: PageView | undefined;

  const forget = () => {
    view = undefined;
    scroll.restart();
  };
  core.addProperties((event, uuid, timestamp) => {
    if (event !== '$pageview') {
      return { $pageview_id: view?.id, ...(event === '$pageleave' && ended(view, timestamp, scroll.properties())) };
    }
    const before = ended(view, timestamp, scroll.properties());
    view = { id: uuid, pathname: location.pathname, startedAt: timestamp };
    scroll.restart();
    return { ...before, $pageview_id: uuid, title: ofDocument('title') };
  });

  // A visitor away for so long did not read on; another visitor did not read this at all.
  signals.on('session', forget);
  signals.on('leaving', () => {
    const { capture_pageleave: wanted, capture_pageview, request_batching } = options;
    if (wanted !== true && !(wanted === 'if_capture_pageview' && capture_pageview)) return;
    core.capture('$pageleave', null, request_batching ? undefined : { transport: 'sendBeacon' });
  });
  const isOfFirst = captureFirst(core, signal);
  captureReturns(core, forget, signal);
  captureRoutes(core, isOfFirst, signal);
  return { getPageViewId: () => view?.id };
};

/** What is told of a page view when it is over. */
function ended(view: PageView | undefined, now: Date, depth: Properties): Properties {
  return view
    ? {
        $prev_pageview_id: view.id,
        $prev_pageview_pathname: view.pathname,
        $prev_pageview_duration: (now.getTime() - view.startedAt.getTime()) / 1000,
        ...depth,
      }
    : {};
}

/**
 * The view of a page that was loaded: when it is seen (not prerendered, not in a tab behind), and with consent. Returns what
 * says of another path whether that is still where this view takes place: applications go elsewhere while they start.
 */
function captureFirst({ signals, options, isCapturing, capture }: Core, signal: AbortSignal): () => boolean {
  let isDone = false;
  const captureOnce = () => {
    if (isDone) return false;
    if (!options.capture_pageview || ofDocument('visibilityState') !== 'visible' || !isCapturing()) return true;
    isDone = true;
    capture('$pageview', null, { send_instantly: true });
    return true;
  };
  onDocument('visibilitychange', captureOnce, { signal });
  signals.on('consent', captureOnce);
  // What the application does right after `init`, identifying a visitor say, comes first.
  setTimeout(captureOnce, 1);
  return captureOnce;
}

/** A page the browser kept whole is seen again, as it would be if it were loaded again; its leave was told. */
function captureReturns({ options, capture }: Core, forget: () => void, signal: AbortSignal): void {
  const onShow = ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    forget();
    if (options.capture_pageview) capture('$pageview', null, { send_instantly: true });
  };
  addEventListener('pageshow', onShow, { signal });
}

function captureRoutes({ signals, options, capture }: Core, isOfFirst: () => boolean, signal: AbortSignal): void {
  let isWatched = false;
  const watch = () => {
    if (isWatched || options.capture_pageview !== 'history_change') return;
    isWatched = true;
    watchHistory((navigation_type) => {
      if (options.capture_pageview === 'history_change' && !isOfFirst()) capture('$pageview', { navigation_type });
    }, signal);
  };
  watch();
  signals.on('options', watch);
}

/** How an application came to another path. */
type NavigationType = 'pushState' | 'replaceState' | 'popstate';

/** Calls when an application that routes by itself has come to another path. */
function watchHistory(onPath: (type: NavigationType) => void, signal: AbortSignal): void {
  let path = location.pathname;
  let pending: NavigationType | undefined;

  const tell = () => {
    const type = pending;
    pending = undefined;
    path = location.pathname;
    if (type) onPath(type);
  };
  const note = (type: NavigationType) => {
    if (location.pathname === path) return;
    pending = type;
    path = location.pathname;
    // Routers set the title after the address, in the same task. In a popstate they may render at once.
    if (type === 'popstate' || window.event?.type === 'popstate') tell();
    else queueMicrotask(tell);
  };

  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    history[method] = function (this: History, ...change: Parameters<History['pushState']>) {
      // What waits to be told is about the address that is left now.
      if (!signal.aborted && isElsewhere(change[2])) tell();
      original.apply(this, change);
      if (!signal.aborted) note(method);
    };
  }
  addEventListener('popstate', () => note('popstate'), { signal });
}

function isElsewhere(address: string | URL | null | undefined): boolean {
  try {
    return address != null && new URL(address, ofDocument('baseURI')).href !== location.href;
  } catch {
    return false;
  }
}

interface Depth {
  lastScroll: number;
  maxScroll: number;
  lastContent: number;
  maxContent: number;
  /** The furthest that could be scrolled, and all there was to see. */
  scrollHeight: number;
  contentHeight: number;
}

interface ScrollDepth {
  /** How far the page was read since the last `restart`, in pixels and as a part of it. */
  properties(): Properties;
  restart(): void;
}

/** Follows how far a visitor scrolls. */
function createScrollDepth(signal: AbortSignal): ScrollDepth {
  let depth: Depth | undefined;

  const measure = () => {
    const { scrollHeight = 0, clientHeight = 0 } = ofDocument('documentElement') ?? {};
    const scroll = Math.max(0, window.scrollY || 0);
    const content = scroll + clientHeight;
    depth = {
      lastScroll: scroll,
      lastContent: content,
      maxScroll: Math.max(scroll, depth?.maxScroll ?? 0),
      maxContent: Math.max(content, depth?.maxContent ?? 0),
      scrollHeight: Math.max(scrollHeight - clientHeight, depth?.scrollHeight ?? 0),
      contentHeight: Math.max(scrollHeight, depth?.contentHeight ?? 0),
    };
  };
  // Scrolling of an element within the page does not bubble.
  for (const type of ['scroll', 'scrollend', 'resize']) {
    addEventListener(type, measure, { capture: true, passive: true, signal });
  }

  return {
    properties: () => (depth ? asProperties(depth) : {}),
    restart() {
      depth = undefined;
      // Not before the page that is being made is there.
      setTimeout(measure);
    },
  };
}

function asProperties(depth: Depth): Properties {
  const properties: Properties = {};
  const add = (name: string, reached: number, whole: number) => {
    const pixels = Math.ceil(reached);
    const all = Math.ceil(whole);
    properties[`$prev_pageview_${name}`] = pixels;
    properties[`$prev_pageview_${name}_percentage`] = all <= 1 ? 1 : Math.min(Math.max(pixels / all, 0), 1);
  };
  add('last_scroll', depth.lastScroll, depth.scrollHeight);
  add('max_scroll', depth.maxScroll, depth.scrollHeight);
  add('last_content', depth.lastContent, depth.contentHeight);
  add('max_content', depth.maxContent, depth.contentHeight);
  return properties;
}
