// What the browser has, and what a page may have put in its place.

import type { Core } from '../client/core.ts';

type Page = Window & typeof globalThis;

/** Undefined on a server, also on one that has a `window` for the sake of other libraries; read once, since a page's own are never exchanged. */
export const page: Page | undefined = typeof document === 'undefined' ? undefined : window;

/**
 * A page's HTML can name what `document` answers (`<img name="currentScript">`), and what `window` has not got itself
 * (`<a id="posthog">`): neither decides anything here. Objects are asked of the browser's own document; texts an application may
 * have put in the place of the browser's.
 */
export function ofDocument<Name extends keyof Document>(name: Name): Document[Name] {
  const value = document[name];
  return Object(value) === value ? Reflect.get(Object.getPrototypeOf(document), name, document) : value;
}

export function ofWindow<Name extends keyof Page>(name: Name): Page[Name] | undefined {
  return page && Object.hasOwn(page, name) ? page[name] : undefined;
}

export function onDocument(type: string, listener: (event: Event) => void, options?: AddEventListenerOptions): void {
  ofDocument('addEventListener').call(document, type, listener, options);
}

/** What throws where a browser forbids it (blocked storage, a sandboxed frame) or lacks it: undefined then. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Ends what listens to the page when the client is shut down. */
export function stopSignal({ signals }: Pick<Core, 'signals'>): AbortSignal {
  const stop = new AbortController();
  signals.on('shutdown', () => stop.abort());
  return stop.signal;
}

let knownZone: string | undefined;

/** The time zone's name, like `Europe/Paris`; undefined where a browser does not say it. */
export function timeZone(): string | undefined {
  knownZone ??= attempt(readZone);
  return knownZone;
}

/** `Temporal` just says it. For the other way browsers load all they know of a language: tens of milliseconds, on a phone more. */
function readZone(): string {
  const time = ofWindow('Temporal' as never) as { Now?: { timeZoneId?(): string } } | undefined;
  return time?.Now?.timeZoneId?.() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Longer ones, `Infinity` too, browsers take for none at all: 25 days. */
export const longestTimerMs = 2 ** 31 - 1;
