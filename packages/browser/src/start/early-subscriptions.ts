import { page } from '../page/globals.ts';

interface Subscription {
  name: string;
  args: unknown[];
  stop?: unknown;
}

export interface EarlySubscriptions {
  /** Returns the way to stop it, before and after it was carried out. */
  add(name: string, args: unknown[]): () => void;
  carryOut(subscribe: (name: string, args: unknown[]) => unknown): void;
}

/** Listeners given before `init`: a component is often there before what starts the client. */
export function createEarlySubscriptions(): EarlySubscriptions {
  const all = new Set<Subscription>();
  return {
    add(name, args) {
      const subscription: Subscription = { name, args };
      // A server would keep those of every request, and never start.
      if (page) all.add(subscription);
      return () => {
        all.delete(subscription);
        if (typeof subscription.stop === 'function') subscription.stop();
      };
    },
    carryOut(subscribe) {
      for (const one of all) one.stop = subscribe(one.name, one.args);
    },
  };
}
