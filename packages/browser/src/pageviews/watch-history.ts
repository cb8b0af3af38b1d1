/** How an application came to another path. */
export type NavigationType = 'pushState' | 'replaceState' | 'popstate';

/** Calls when an application that routes by itself has come to another path. */
export function watchHistory(onPath: (type: NavigationType) => void, signal: AbortSignal): void {
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
    return address != null && new URL(address, document.baseURI).href !== location.href;
  } catch {
    return false;
  }
}
