/** Undefined on a server, also on one that has a `window` for the sake of other libraries; read once, since a page's own are never exchanged. */
export const page: (Window & typeof globalThis) | undefined = typeof document === 'undefined' ? undefined : window;

/** What throws where a browser forbids it (blocked storage, a sandboxed frame) or lacks it: undefined then. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
