// Access to browser globals that is safe against changes by the page.

import type { Core } from '../client/core.ts';

type Page = Window & typeof globalThis;

/** Undefined on a server, even if it defines `window` for other libraries. Read once, because it never changes. */
export const page: Page | undefined = typeof document === 'undefined' ? undefined : window;

/**
 * Reads a property of `document` in spite of DOM clobbering: HTML can shadow properties of `document` (`<img
 * name="currentScript">`) and add properties to `window` (`<a id="posthog">`). Objects are read from the native
 * prototype. Strings are read directly, because an application may override them on purpose.
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

/** Returns undefined if `read` throws, for APIs that a browser blocks (storage, sandboxed frames) or lacks. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns a signal that removes page listeners when the client is shut down. */
export function stopSignal({ signals }: Pick<Core, 'signals'>): AbortSignal {
  const stop = new AbortController();
  signals.on('shutdown', () => stop.abort());
  return stop.signal;
}

let knownZone: string | undefined;

/** Returns the name of the time zone, such as `Europe/Paris`. Undefined if the browser does not provide it. */
export function timeZone(): string | undefined {
  knownZone ??= attempt(readZone);
  return knownZone;
}

/** `Temporal` is fast. For `Intl`, browsers load locale data, which takes tens of milliseconds and longer on phones. */
function readZone(): string {
  const time = ofWindow('Temporal' as never) as { Now?: { timeZoneId?(): string } } | undefined;
  return time?.Now?.timeZoneId?.() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** About 25 days. Browsers treat longer timeouts, including `Infinity`, as zero. */
export const longestTimerMs = 2 ** 31 - 1;
