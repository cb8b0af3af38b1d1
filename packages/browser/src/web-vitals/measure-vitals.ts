import { nameElement } from './name-element.ts';
import { createTellVital, type Vital } from './vital.ts';

/** What the types of the DOM do not know of entries, or only of some. */
type Entry = PerformanceEventTiming & {
  interactionId?: number;
  value: number;
  hadRecentInput: boolean;
  element?: Element;
  url?: string;
};

interface Vitals {
  report: (vital: Vital) => void;
  signal: AbortSignal;
}

/**
 * Measures how a page feels: its first and largest paint, the shifts of its layout, and the slowest answer to a visitor.
 * Returns what is called when the page is hidden: only then most of it is final.
 */
export function measureVitals({ report, signal }: Vitals): () => void {
  const tell = createTellVital(report);
  const start = activationStart();
  const hiddenAt = firstHidden(start);
  const finishers: (() => void)[] = [];
  let isPainted = false;

  const observe = (type: string, onEntry: (entry: Entry) => void, options?: object) => {
    if (!PerformanceObserver.supportedEntryTypes?.includes(type)) return;
    const read = (entries: PerformanceEntry[]) => {
      for (const entry of entries) onEntry(entry as Entry);
    };
    const observer = new PerformanceObserver((list) => read(list.getEntries()));
    observer.observe({ type, buffered: true, ...options });
    finishers.push(() => read(observer.takeRecords()));
    signal.addEventListener('abort', () => observer.disconnect());
  };

  observe('paint', ({ name, startTime }) => {
    if (name !== 'first-contentful-paint' || startTime >= hiddenAt()) return;
    isPainted = true;
    tell('FCP', Math.max(startTime - start, 0));
  });

  let largest: Entry | undefined;
  let isLargestFinal = false;
  observe('largest-contentful-paint', (entry) => {
    if (!isLargestFinal && entry.startTime < hiddenAt()) largest = entry;
  });
  const tellLargest = () => {
    if (isLargestFinal || !largest) return;
    isLargestFinal = true;
    tell('LCP', Math.max(largest.startTime - start, 0), {
      target: nameElement(largest.element),
      url: largest.url ?? '',
    });
  };
  // Once a visitor acts on a page, what is painted later is an answer to that.
  const settle = () => setTimeout(() => finish(tellLargest));
  for (const type of ['keydown', 'click']) addEventListener(type, settle, { capture: true, once: true, signal });

  const shifts = createShifts();
  observe('layout-shift', shifts.add);
  const answers = createAnswers();
  observe('event', answers.add, { durationThreshold: 40 });
  observe('first-input', answers.add);

  const finish = (last: () => void) => {
    for (const read of finishers) read();
    last();
  };
  return () =>
    finish(() => {
      tellLargest();
      const slowest = answers.slowest();
      if (slowest) tell('INP', slowest.duration, describeAnswer(slowest));
      if (isPainted) tell('CLS', shifts.worst());
    });
}

/** Prerendered pages begin when they are shown. */
function activationStart(): number {
  const [navigation] = performance.getEntriesByType('navigation') as { activationStart?: number }[];
  return navigation?.activationStart ?? 0;
}

/** What is painted behind another tab was not waited for. */
function firstHidden(start: number): () => number {
  let at = document.visibilityState === 'hidden' ? 0 : Number.POSITIVE_INFINITY;
  const known = performance
    .getEntriesByType('visibility-state')
    .find(({ name, startTime }) => name === 'hidden' && startTime >= start);
  if (known) at = known.startTime;
  document.addEventListener('visibilitychange', ({ timeStamp }) => {
    if (document.visibilityState === 'hidden') at = Math.min(at, timeStamp);
  });
  return () => at;
}

/** Shifts that follow each other closely count together; the worst such group is told. */
function createShifts() {
  let worst = 0;
  let sum = 0;
  let firstAt = 0;
  let lastAt = 0;
  return {
    add({ hadRecentInput, startTime, value }: Entry) {
      if (hadRecentInput) return;
      const isSameGroup = sum > 0 && startTime - lastAt < 1000 && startTime - firstAt < 5000;
      if (!isSameGroup) firstAt = startTime;
      sum = isSameGroup ? sum + value : value;
      lastAt = startTime;
      worst = Math.max(worst, sum);
    },
    worst: () => worst,
  };
}

/** The slowest answers; of every fifty interactions one is left out, as a page is judged by most of them. */
function createAnswers() {
  const kept = 10;
  const slow = new Map<number, Entry>();
  const ordered = () => [...slow.values()].sort(bySlowness);
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  return {
    add(entry: Entry) {
      const id = entry.interactionId;
      if (!id) return;
      lowest = Math.min(lowest, id);
      highest = Math.max(highest, id);
      const known = slow.get(id);
      if (!known || bySlowness(entry, known) < 0) slow.set(id, entry);
      if (slow.size > kept) slow.delete(ordered().pop()?.interactionId ?? 0);
    },
    slowest(): Entry | undefined {
      const { interactionCount } = performance as { interactionCount?: number };
      // Ids of interactions go up by seven.
      const count = interactionCount ?? (highest && (highest - lowest) / 7 + 1);
      return ordered()[Math.min(slow.size - 1, Math.floor(count / 50))];
    },
  };
}

/** Of the entries of one answer (press, release, click) the one that took the time comes first. */
const bySlowness = (one: Entry, other: Entry): number =>
  other.duration - one.duration || processing(other) - processing(one);

const processing = ({ processingStart, processingEnd }: Entry): number => processingEnd - processingStart;

const describeAnswer = (entry: Entry) => ({
  interactionTarget: nameElement(entry.target),
  interactionType: entry.name.startsWith('key') ? 'keyboard' : 'pointer',
  inputDelay: entry.processingStart - entry.startTime,
  processingDuration: processing(entry),
  presentationDelay: Math.max(entry.startTime + entry.duration - entry.processingEnd, 0),
});
