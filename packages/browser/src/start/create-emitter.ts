import type { Emitter, Log, Signals } from '../client/core.ts';

type Listeners = { [Name in keyof Signals]?: Set<(detail: Signals[Name]) => void> };

/** A listener that throws stops neither the others nor what called `emit`. */
export function createEmitter(log: Log): Emitter {
  const listeners: Listeners = {};
  return {
    on(name, listener) {
      const all: Set<typeof listener> = listeners[name] ?? new Set();
      Object.assign(listeners, { [name]: all });
      all.add(listener);
      return () => void all.delete(listener);
    },
    emit(name, detail) {
      for (const listener of listeners[name] ?? []) {
        try {
          listener(detail);
        } catch (error) {
          log.error(error);
        }
      }
    },
  };
}
