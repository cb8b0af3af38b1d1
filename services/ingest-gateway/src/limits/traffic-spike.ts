/** A burst of traffic, in numbers. */
export interface TrafficSpike {
  /** Events in the running window, of all gateways as far as known. */
  events: number;
  windowSeconds: number;
  /** What a window held lately. */
  baselineEvents: number;
  /** What the window had to reach. */
  thresholdEvents: number;
  /** Number of the window since the epoch; with the length it is the same on all gateways. */
  window: number;
}
