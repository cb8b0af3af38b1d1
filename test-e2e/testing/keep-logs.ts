import type { Logger } from '@millrace/runtime';

/**
 * Runs `work` without printing log messages, and returns the messages. A test that causes an error can then assert its
 * log message, and the test run prints only unexpected log messages.
 */
export async function keepLogs<T>(
  logger: Logger,
  work: () => Promise<T>,
): Promise<{ result: T; logged: Record<string, unknown>[] }> {
  const logged: Record<string, unknown>[] = [];
  const collect = (line: Record<string, unknown>) => void logged.push(line);
  for (const transport of logger.transports) transport.silent = true;
  logger.on('data', collect);
  try {
    return { result: await work(), logged };
  } finally {
    logger.off('data', collect);
    for (const transport of logger.transports) transport.silent = false;
  }
}
