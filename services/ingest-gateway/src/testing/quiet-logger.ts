import { createLogger, type Logger } from '@millrace/runtime';

/** Has no output, because tests cause errors intentionally. */
export function quietLogger(): Logger {
  const logger = createLogger('ingest-gateway-test');
  logger.silent = true;
  return logger;
}
