// Measures web vitals and decides when to capture them.

import type { Core } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import { maskUrl } from '../origin.ts';
import { findParent, readAttribute, readTag } from '../page/dom.ts';
import { addDocumentListener, createStopSignal, readFromDocument, readFromWindow } from '../page/globals.ts';

/** Maximum duration. Longer times are discarded, because they come from a wrong clock or a suspended page. */
const longestMs = 15 * 60 * 1000;
/** Maximum time to wait for the page's other metrics before an event is captured. */
const flushMs = 5000;

/**
 * Measures a page and captures the results.
 * @param names the metrics to capture; all by default
 */
export function captureVitals(core: Core, names: readonly string[] = Object.keys(vitalLimits)): void {
  const captured: Record<string, number> = {};
  let waiting: Properties = {};
  let address = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (isLeaving = false) => {
    clearTimeout(timer);
    const properties = waiting;
    waiting = {};
    const options = isLeaving ? ({ transport: 'sendBeacon' } as const) : undefined;
    if (timer && !signal.aborted) core.capture('$web_vitals', { $current_url: address, ...properties }, options);
    timer = undefined;
  };
  const tell: TellVital = (name, value, attribution) => {
    const { [name]: before = 0 } = captured;
    if (!names.includes(name) || value >= longestMs || captured[name] === value) return;
    captured[name] = value;
    const masked = maskUrl(location.href, core.options.mask_personal_data_properties);
    if (address !== masked) flush();
    address = masked;
    timer ??= setTimeout(flush, flushMs);
    const delta = value - before;
    const vital = { name, value, rating: rate(name, value), delta, ...(attribution && { attribution }) };
    const at = { $current_url: address, timestamp: Date.now(), $session_id: core.client.get_session_id() };
    waiting[`$web_vitals_${name}_event`] = { ...vital, ...at };
    waiting[`$web_vitals_${name}_value`] = value;
    if (Object.keys(waiting).length === 2 * names.length) flush();
  };

  const signal = createStopSignal(core);
  const finish = measureVitals(tell, signal);
  const leave = () => {
    finish();
    flush(true);
  };
  const onHidden = () => readFromDocument('visibilityState') === 'hidden' && leave();
  addDocumentListener('visibilitychange', onHidden, { signal });
  core.signals.on('leaving', leave);
}

type VitalName = 'LCP' | 'CLS' | 'FCP' | 'INP';

/**
 * For each metric, the upper limits of good and of acceptable values, in milliseconds. The metric CLS is a score
 * without a unit.
 */
const vitalLimits: Record<VitalName, [number, number]> = {
  CLS: [0.1, 0.25],
  FCP: [1800, 3000],
  INP: [200, 500],
  LCP: [2500, 4000],
};

type TellVital = (name: VitalName, value: number, attribution?: Record<string, string | number>) => void;

function rate(name: VitalName, value: number): string {
  const [good, poor] = vitalLimits[name];
  return value > poor ? 'poor' : value > good ? 'needs-improvement' : 'good';
}

/** The DOM types declare these fields for only some entry types, or not at all. */
type Entry = PerformanceEventTiming & {
  interactionId?: number;
  value: number;
  hadRecentInput: boolean;
  element?: Element;
};

/**
 * Measures the first paint, the largest paint, layout shifts, and the slowest interaction. Most values are final only
 * when the page is hidden, so the caller must then call the returned function.
 */
function measureVitals(tell: TellVital, signal: AbortSignal): () => void {
  // jsdom, which application tests use, has no PerformanceObserver.
  if (!readFromWindow('PerformanceObserver')) return () => {};
  // For a prerendered page, measure times from the moment when the visitor opened it.
  const [navigation] = performance.getEntriesByType('navigation') as { activationStart?: number }[];
  const start = navigation?.activationStart ?? 0;
  const isSeen = createIsSeen(start, signal);
  const readers: (() => void)[] = [];
  const observe = (type: string, onEntry: (entry: Entry) => void) => {
    if (!PerformanceObserver.supportedEntryTypes?.includes(type)) return;
    const read = (entries: PerformanceEntry[]) => (entries as Entry[]).forEach(onEntry);
    const observer = new PerformanceObserver((list) => read(list.getEntries()));
    observer.observe({ type, buffered: true, durationThreshold: 40 } as PerformanceObserverInit);
    readers.push(() => read(observer.takeRecords()));
  };
  const paintedAt = ({ startTime }: Entry) => Math.max(startTime - start, 0);

  let isPainted = false;
  observe('paint', (entry) => {
    if (entry.name !== 'first-contentful-paint' || !isSeen(entry)) return;
    isPainted = true;
    tell('FCP', paintedAt(entry));
  });

  let largest: Entry | undefined;
  let isLargestFinal = false;
  observe('largest-contentful-paint', (entry) => {
    if (!isLargestFinal && isSeen(entry)) largest = entry;
  });
  const tellLargest = () => {
    for (const read of readers) read();
    isLargestFinal = true;
    if (largest) tell('LCP', paintedAt(largest), { target: nameElement(largest.element) });
  };
  // Paints after the first interaction are responses to it, so stop measuring paints.
  for (const type of ['keydown', 'click']) {
    addEventListener(type, () => setTimeout(tellLargest), { capture: true, once: true, signal });
  }

  const shifts = createShifts();
  observe('layout-shift', shifts.add);
  const interactions = createInteractions();
  observe('event', interactions.add);
  observe('first-input', interactions.add);

  return () => {
    tellLargest();
    const entries = interactions.slowest() ?? [];
    const [longest] = entries;
    if (longest) tell('INP', longest.duration, describeInteraction(longest, entries));
    if (isPainted) tell('CLS', shifts.worst());
  };
}

/** Returns whether the page was visible when an entry was recorded. Paints of hidden pages do not count. */
function createIsSeen(start: number, signal: AbortSignal): (entry: Entry) => boolean {
  const isHidden = () => readFromDocument('visibilityState') === 'hidden';
  const known = performance
    .getEntriesByType('visibility-state')
    .find(({ name, startTime }) => name === 'hidden' && startTime >= start);
  let hiddenAt = known?.startTime ?? (isHidden() ? 0 : Number.POSITIVE_INFINITY);
  const onChange = ({ timeStamp }: Event) => {
    if (isHidden()) hiddenAt = Math.min(hiddenAt, timeStamp);
  };
  addDocumentListener('visibilitychange', onChange, { signal });
  return ({ startTime }) => startTime < hiddenAt;
}

/** Groups layout shifts that follow each other quickly, and selects the worst group. */
function createShifts() {
  let worst = 0;
  let sum = 0;
  let firstAt = 0;
  let lastAt = 0;
  return {
    add({ hadRecentInput, startTime, value }: Entry) {
      if (hadRecentInput) return;
      if (startTime - lastAt >= 1000 || startTime - firstAt >= 5000) sum = 0;
      if (!sum) firstAt = startTime;
      lastAt = startTime;
      sum += value;
      worst = Math.max(worst, sum);
    },
    worst: () => worst,
  };
}

/** Collects the slowest interactions. One in fifty interactions is ignored as an outlier. */
function createInteractions() {
  const most = 10;
  /** Entries grouped by interaction ID. The press, release and click of one interaction are separate entries. */
  const slow = new Map<number, Entry[]>();
  const ordered = () => [...slow.values()].sort(([one], [other]) => (other?.duration ?? 0) - (one?.duration ?? 0));
  return {
    add(entry: Entry) {
      const id = entry.interactionId;
      if (!id) return;
      const entries = [...(slow.get(id) ?? []), entry].sort((one, other) => other.duration - one.duration);
      slow.set(id, entries);
      if (slow.size > most) slow.delete(ordered()[most]?.[0]?.interactionId ?? 0);
    },
    slowest(): Entry[] | undefined {
      const { interactionCount = 0 } = performance as { interactionCount?: number };
      return ordered()[Math.min(slow.size - 1, Math.floor(interactionCount / 50))];
    },
  };
}

/**
 * Divides the longest delay into input delay, processing time and presentation delay. Considers all entries with the
 * same next paint.
 */
function describeInteraction(longest: Entry, entries: Entry[]) {
  const { name, target, startTime, processingStart } = longest;
  const paintedAt = startTime + longest.duration;
  const ends = entries.filter((entry) => entry.processingStart < paintedAt).map((entry) => entry.processingEnd);
  const processingEnd = Math.max(...ends);
  return {
    interactionTarget: nameElement(target),
    interactionType: name.startsWith('key') ? 'keyboard' : 'pointer',
    inputDelay: processingStart - startTime,
    processingDuration: processingEnd - processingStart,
    presentationDelay: Math.max(paintedAt - processingEnd, 0),
  };
}

/** Returns a readable selector for an element, starting at the nearest element with an ID: `#cart>button.buy`. */
function nameElement(node: Node | null | undefined): string {
  let name = '';
  for (let at = node as Element | null; at; at = findParent(at)) {
    const id = readAttribute(at, 'id');
    const own = id
      ? `#${id}`
      : [readTag(at), ...(readAttribute(at, 'class') ?? '').trim().split(/\s+/)].filter(Boolean).join('.');
    name = name ? `${own}>${name}` : own;
    if (id || name.length > 99) break;
  }
  return name.slice(0, 99);
}
