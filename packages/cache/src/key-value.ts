/**
 * The key-value port: Redis in production, a map in the process for the embedded system. Everything stored through it
 * is a copy or a counter: losing it costs time, never data.
 */
export interface KeyValue {
  /** Null when absent. Rejects when the store cannot be reached within its time limit (callers decide what that means). */
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Best-effort message to all processes, e.g. "project key changed". */
  publish(channel: string, message: string): Promise<void>;
  /** Calls back for each message until the store is stopped. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  isHealthy(): boolean;
  stop(): Promise<void>;
}
