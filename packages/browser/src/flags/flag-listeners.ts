import type { FlagsListener } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { FlagValue } from '../client/values.ts';
import { activeOf } from './flag-snapshot.ts';

/** Who wants to hear when flags change; one that fails does not keep the others from hearing. */
export function createFlagListeners({ log }: Core, values: () => Record<string, FlagValue> | undefined) {
  const listeners = new Set<FlagsListener>();

  function call(listener: FlagsListener, ...context: [] | [{ errorsLoading: boolean }]): void {
    const active = activeOf(values());
    try {
      listener(Object.keys(active), active, ...context);
    } catch (error) {
      log.error('A listener for flags failed', error);
    }
  }

  return {
    add(listener: FlagsListener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call,
    tell(errorsLoading = false): void {
      for (const listener of [...listeners]) call(listener, { errorsLoading });
    },
  };
}
