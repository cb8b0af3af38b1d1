import type { Metrics } from '@millrace/runtime';

interface Waiting {
  topic: string;
  group: string;
  partition: number;
  /** When the log took the oldest record that has not taken effect; null: none waits. */
  sinceMs: number | null;
}

/** How long the oldest record of each partition waits: computed when it is asked for, so it grows while all stands still. */
export function createWaitGauge(metrics: Metrics) {
  const seconds = metrics.gauge(
    'millrace_log_lag_seconds',
    'How long the oldest record of the partition that has not taken effect has been in the log',
    ['topic', 'group', 'partition'],
  );
  const waiting = new Map<string, Waiting>();
  const note = (topic: string, group: string, partition: number, sinceMs: number | null) =>
    void waiting.set(`${topic} ${group} ${partition}`, { topic, group, partition, sinceMs });
  Object.assign(seconds, {
    collect() {
      const nowMs = Date.now();
      for (const { topic, group, partition, sinceMs } of waiting.values()) {
        seconds.set({ topic, group, partition }, sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1000);
      }
    },
  });
  return {
    began: note,
    ended: (topic: string, group: string, partition: number) => note(topic, group, partition, null),
    forget(topic: string, group: string, partition: number) {
      waiting.delete(`${topic} ${group} ${partition}`);
      seconds.remove({ topic, group, partition });
    },
  };
}
