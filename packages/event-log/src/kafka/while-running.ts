/**
 * kafkajs throws when the consumer is between a crash and its restart. What was asked of it then does not matter any
 * more.
 */
export function whileRunning(ask: () => void): void {
  try {
    ask();
  } catch {
    // The next assignment starts from the stored offsets.
  }
}
