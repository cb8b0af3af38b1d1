/** A change of one counter. */
export interface CounterChange {
  key: string;
  /** A whole number; 0 asks for the count. */
  by: number;
  /**
   * What the counter is raised to when it would be less after the change. Who knows that so much was counted already
   * heals a store that has forgotten.
   */
  atLeast: number;
  /** From now on, more than 0. */
  ttlSeconds: number;
}

/**
 * The key-value port: Redis in production, a map in the process for the embedded system. Everything stored through it
 * is a copy or a counter: losing it costs time, never data.
 */
export interface KeyValue {
  /**
   * Null when absent. Like every command here it rejects with an AppError `unavailable` when the store cannot be
   * reached within its time limit; callers decide what that means.
   */
  get(key: string): Promise<string | null>;
  /** Replaces value and lifetime. @param ttlSeconds more than 0; fractions count. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets what is not there yet. @returns whether it was not. */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /**
   * Changes counters in one round trip, each atomically, and gives their new counts in the same order. A counter that
   * is not there counts from 0. After a rejection it is unknown whether the changes took effect.
   * @param changes at most some hundreds, each of another key.
   */
  addToCounters(changes: readonly CounterChange[]): Promise<number[]>;
  /** Best-effort message to all processes that subscribe now, e.g. "this distinct id is hot". */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Calls back for each message until the store is stopped. Survives an absent store: messages of that time are lost,
   * later ones arrive. `onMessage` must not throw.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  /** Whether a command sent now would reach the store, as far as is known. */
  isHealthy(): boolean;
  /** Idempotent. Commands after it reject or find nothing. */
  stop(): Promise<void>;
}
