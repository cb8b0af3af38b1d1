import type { Logger } from '@millrace/runtime';

/**
 * Does `work` while its logger prints nothing, and gives what it logged: a test that provokes an error asserts what is said
 * of it, and the output of a run holds only what nobody expected.
 */
export async function keepLogs<T>(
  logger: Logger,
  work: () => Promise<T>,
): Promise<{ result: T; logged: Record<string, unknown>[] }> {
  const logged: Record<string, unknown>[] = [];
  const keep = (line: Record<string, unknown>) => void logged.push(line);
  for (const transport of logger.transports) transport.silent = true;
  logger.on('data', keep);
  try {
    return { result: await work(), logged };
  } finally {
    logger.off('data', keep);
    for (const transport of logger.transports) transport.silent = false;
  }
}
