/** kafkajs throws when the consumer is between a crash and its restart; what is asked of it is then beside the point. */
export function whileRunning(ask: () => void): void {
  try {
    ask();
  } catch {
    // The next assignment begins afresh.
  }
}
