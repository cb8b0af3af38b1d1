// The interface of the cache that processes share, implemented by Redis or by a map in memory.

export interface CounterChange {
  key: string;
  /** The integer to add. 0 only reads the counter. */
  by: number;
  /**
   * The counter's minimum value after the change. With it, a caller that knows an earlier count can restore a counter
   * that the store has lost.
   */
  atLeast: number;
  /** The time to live in seconds, counted from this change. Must be more than 0. */
  ttlSeconds: number;
}

/**
 * A key-value store: Redis in production, or in-process memory in the embedded system. It contains only copies and
 * counters, so losing its content slows Millrace down but loses no data.
 */
export interface KeyValueStore {
  /**
   * Returns the value of a key, or null if the key is absent. Like every command, it rejects with an AppError
   * `unavailable` if the store does not respond within its time limit.
   */
  get(key: string): Promise<string | null>;
  /** Replaces the value and its TTL. @param ttlSeconds the TTL, which must be more than 0 and can be a fraction */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets a value only if the key is absent. @returns whether the value was set */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /**
   * Changes counters in one round trip and returns their new values in the same order. Each change is atomic. A missing
   * counter starts at 0. If the call rejects, the changes may or may not have been made.
   * @param changes the changes, at most a few hundred, each for a different key
   */
  addToCounters(changes: readonly CounterChange[]): Promise<number[]>;
  /** Sends a message to all current subscribers. Delivery is not guaranteed. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Calls `onMessage` for each message until the store is stopped. Messages sent during an outage of the store are
   * lost, but the subscription continues after the outage. `onMessage` must not throw.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  /** Returns true if a command would probably reach the store now. */
  isHealthy(): boolean;
  /** Closes the connection. Can be called repeatedly. After this call, commands reject or return no value. */
  stop(): Promise<void>;
}
