// Captures a page view for each loaded page, route change and restored page. Each page view includes the scroll depth
// of the previous page.

import type { Core, Feature } from './client/core.ts';
import type { Properties } from './client/values.ts';
import { addDocumentListener, createStopSignal, readFromDocument } from './page/globals.ts';

interface PageView {
  id: string;
  pathname: string;
  startedAt: Date;
}

/** Captures page views and page leaves, and adds the page view ID to every event. */
export const createPageViews: Feature = (core) => {
  const { signals, options } = core;
  const signal = createStopSignal(core);
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
    return { ...before, $pageview_id: uuid, title: readFromDocument('title') };
  });

  // Forget the current page view, because it belongs to the previous session or visitor.
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
 * Captures the view of a loaded page once the page is visible and the visitor has consented. The returned function
 * captures the view earlier if necessary. It returns whether a route change still belongs to this first view, because
 * applications often redirect while they start.
 */
function captureFirst({ signals, options, isCapturing, capture }: Core, signal: AbortSignal): () => boolean {
  let isDone = false;
  const captureOnce = () => {
    if (isDone) return false;
    if (!options.capture_pageview || readFromDocument('visibilityState') !== 'visible' || !isCapturing()) return true;
    isDone = true;
    capture('$pageview', null, { send_instantly: true });
    return true;
  };
  addDocumentListener('visibilitychange', captureOnce, { signal });
  signals.on('consent', captureOnce);
  // Wait for code that runs right after `init`, for example to identify the visitor.
  setTimeout(captureOnce, 1);
  return captureOnce;
}

/**
 * Captures a page view when the browser restores a page from the back/forward cache. The page leave was already
 * captured when the visitor left.
 */
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

type NavigationType = 'pushState' | 'replaceState' | 'popstate';

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
    // Routers set the page title after the URL, but in the same task. During popstate, they may render immediately.
    if (type === 'popstate' || window.event?.type === 'popstate') tell();
    else queueMicrotask(tell);
  };

  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    history[method] = function (this: History, ...change: Parameters<History['pushState']>) {
      // Send a pending notification first, because it is about the URL that the visitor is leaving.
      if (!signal.aborted && isElsewhere(change[2])) tell();
      original.apply(this, change);
      if (!signal.aborted) note(method);
    };
  }
  addEventListener('popstate', () => note('popstate'), { signal });
}

function isElsewhere(address: string | URL | null | undefined): boolean {
  try {
    return address != null && new URL(address, readFromDocument('baseURI')).href !== location.href;
  } catch {
    return false;
  }
}

interface Depth {
  lastScroll: number;
  maxScroll: number;
  lastContent: number;
  maxContent: number;
  /** The maximum scroll position in pixels. `contentHeight` is the height of the content. */
  scrollHeight: number;
  contentHeight: number;
}

interface ScrollDepth {
  /** Returns how far the visitor has scrolled since the last `restart`, in pixels and as a fraction of the page. */
  properties(): Properties;
  restart(): void;
}

function createScrollDepth(signal: AbortSignal): ScrollDepth {
  let depth: Depth | undefined;

  const measure = () => {
    const { scrollHeight = 0, clientHeight = 0 } = readFromDocument('documentElement') ?? {};
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
  // Listen in the capture phase, because the scroll events of elements do not bubble.
  for (const type of ['scroll', 'scrollend', 'resize']) {
    addEventListener(type, measure, { capture: true, passive: true, signal });
  }

  return {
    properties: () => (depth ? asProperties(depth) : {}),
    restart() {
      depth = undefined;
      // Measure the scroll depth after the new page has been rendered.
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
