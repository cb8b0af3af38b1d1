import type { Logger } from '@millrace/runtime';

/**
 * Runs `work` while its logger prints nothing, and returns what was logged. A test that provokes an error can check the
 * log in this way, and the output of a test run contains only unexpected messages.
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
