import { createLogger, type Logger } from '@millrace/runtime';

/** Creates a silent logger, because these tests cause many expected errors. */
export function testLogger(): Logger {
  const logger = createLogger('test', 'debug');
  logger.silent = true;
  return logger;
}
