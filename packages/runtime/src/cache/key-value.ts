// The interface of the cache that processes share, implemented by Redis or by a map in memory.

export interface CounterChange {
  key: string;
  /** The integer to add. 0 only reads the counter. */
  by: number;
  /**
   * The minimum value after the change. A caller that knows how much was already counted sets it, to restore a counter
   * that the store has lost.
   */
  atLeast: number;
  /** The time to live in seconds, starting with this change. Must be more than 0. */
  ttlSeconds: number;
}

/**
 * A key-value store: Redis in production, or a map in this process for the embedded system. The store contains only
 * copies and counters, so losing its content costs time but loses no data.
 */
export interface KeyValueStore {
  /**
   * Returns the value of a key, or null if the key is absent. Like every command of this store, it rejects with an
   * AppError `unavailable` if the store cannot be reached within its time limit. The caller decides what to do then.
   */
  get(key: string): Promise<string | null>;
  /**
   * Replaces the value and its TTL.
   * @param ttlSeconds more than 0, with or without a fraction
   */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets a value only if the key is absent. @returns whether the value was set */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /**
   * Changes counters in one round trip, each atomically, and returns their new values in the same order. A missing
   * counter starts at 0. If the call rejects, it is unknown whether the changes were made.
   * @param changes at most a few hundred, each for a different key
   */
  addToCounters(changes: readonly CounterChange[]): Promise<number[]>;
  /** Sends a message to all current subscribers, for example "this distinct ID is hot". Delivery is not guaranteed. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Calls back for each message until the store is stopped. An outage of the store does not end the subscription:
   * messages sent during the outage are lost, and later messages arrive. `onMessage` must not throw.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  /** Returns true if a command sent now would probably reach the store. */
  isHealthy(): boolean;
  /** Closes the connection. Can be called several times. Later commands reject or return no value. */
  stop(): Promise<void>;
}
