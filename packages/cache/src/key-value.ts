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
  delete(key: string): Promise<void>;
  /** Best-effort message to all processes that subscribe now, e.g. "project key changed". */
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
