import { createLogger, type Logger } from '@millrace/runtime';

/** Creates a logger without output, because tests intentionally cause errors. */
export function quietLogger(): Logger {
  const logger = createLogger('ingest-gateway-test');
  logger.silent = true;
  return logger;
}
