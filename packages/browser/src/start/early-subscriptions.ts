interface Subscription {
  name: string;
  args: unknown[];
  isStopped: boolean;
  stop?: unknown;
}

export interface EarlySubscriptions {
  /** Returns the way to stop it, before and after it was carried out. */
  add(name: string, args: unknown[]): () => void;
  carryOut(subscribe: (name: string, args: unknown[]) => unknown): void;
}

/** Listeners given before `init`: a component is often there before what starts the client. */
export function createEarlySubscriptions(): EarlySubscriptions {
  const all: Subscription[] = [];
  return {
    add(name, args) {
      const subscription: Subscription = { name, args, isStopped: false };
      all.push(subscription);
      return () => {
        subscription.isStopped = true;
        if (typeof subscription.stop === 'function') subscription.stop();
      };
    },
    carryOut(subscribe) {
      for (const one of all) if (!one.isStopped) one.stop = subscribe(one.name, one.args);
    },
  };
}
