import type { Properties } from '../client/values.ts';

interface Depth {
  lastScroll: number;
  maxScroll: number;
  lastContent: number;
  maxContent: number;
  /** The furthest that could be scrolled, and all there was to see. */
  scrollHeight: number;
  contentHeight: number;
}

export interface ScrollDepth {
  /** How far the page was read since the last `restart`, in pixels and as a part of it. */
  properties(): Properties;
  restart(): void;
}

/** Follows how far a visitor scrolls. */
export function createScrollDepth(signal: AbortSignal): ScrollDepth {
  let depth: Depth | undefined;

  const measure = () => {
    const { scrollHeight = 0, clientHeight = 0 } = document.documentElement ?? {};
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
