import type { Core, Feature } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import { stopSignal } from '../page/stop-signal.ts';
import { createScrollDepth } from './scroll-depth.ts';
import { watchHistory } from './watch-history.ts';

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
    return { ...before, $pageview_id: uuid, title: document.title };
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
    if (!options.capture_pageview || document.visibilityState !== 'visible' || !isCapturing()) return true;
    isDone = true;
    capture('$pageview', null, { send_instantly: true });
    return true;
  };
  document.addEventListener('visibilitychange', captureOnce, { signal });
  signals.on('consent', captureOnce);
  // What the application does right after `init`, identifying a visitor say, comes first.
  setTimeout(captureOnce, 1);
  return captureOnce;
}

/** A page the browser kept whole is seen anew, as it would be if it were loaded again; its leave was told. */
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
