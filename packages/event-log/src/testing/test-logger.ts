import { createLogger, type Logger } from '@millrace/runtime';

/** Says nothing: the faults these tests make would fill the screen with what is expected. */
export function testLogger(): Logger {
  const logger = createLogger('test', 'debug');
  logger.silent = true;
  return logger;
}
