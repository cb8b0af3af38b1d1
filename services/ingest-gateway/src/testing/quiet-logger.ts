import { createLogger, type Logger } from '@millrace/runtime';

/** Creates a logger without output, because tests cause errors on purpose. */
export function quietLogger(): Logger {
  const logger = createLogger('ingest-gateway-test');
  logger.silent = true;
  return logger;
}
