// Accesses browser globals in ways that the page cannot interfere with.

import type { Core } from '../client/core.ts';

type Page = Window & typeof globalThis;

/**
 * The browser window. Undefined on a server, even if another library defines `window` there. The window never changes,
 * so it is read once.
 */
export const page: Page | undefined = typeof document === 'undefined' ? undefined : window;

/**
 * Reads a property of `document` even if HTML shadows it (DOM clobbering): `<img name="currentScript">` shadows
 * `document.currentScript`, and `<a id="posthog">` adds a property to `window`. Objects are read from the native
 * prototype. Strings are read directly, because an application may override them on purpose.
 */
export function readFromDocument<Name extends keyof Document>(name: Name): Document[Name] {
  const value = document[name];
  return Object(value) === value ? Reflect.get(Object.getPrototypeOf(document), name, document) : value;
}

export function readFromWindow<Name extends keyof Page>(name: Name): Page[Name] | undefined {
  return page && Object.hasOwn(page, name) ? page[name] : undefined;
}

export function addDocumentListener(
  type: string,
  listener: (event: Event) => void,
  options?: AddEventListenerOptions,
): void {
  readFromDocument('addEventListener').call(document, type, listener, options);
}

/**
 * Calls `read`, and returns undefined if it throws. Use this for APIs that a browser may block or lack, such as
 * storage.
 */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns a signal that removes listeners on the page when the client is shut down. */
export function createStopSignal({ signals }: Pick<Core, 'signals'>): AbortSignal {
  const stop = new AbortController();
  signals.on('shutdown', () => stop.abort());
  return stop.signal;
}

let knownZone: string | undefined;

/** Returns the name of the time zone, such as `Europe/Paris`, or undefined if the browser does not provide a name. */
export function readTimeZone(): string | undefined {
  knownZone ??= attempt(readZone);
  return knownZone;
}

/** Prefers `Temporal`, because `Intl` makes browsers load locale data, which takes tens of milliseconds or longer. */
function readZone(): string {
  const time = readFromWindow('Temporal' as never) as { Now?: { timeZoneId?(): string } } | undefined;
  return time?.Now?.timeZoneId?.() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The longest possible timer, about 25 days. Browsers treat a longer timeout, including `Infinity`, as 0. */
export const longestTimerMs = 2 ** 31 - 1;
