import { createLogger, type Logger } from '@millrace/runtime';

/** Says nothing: tests make faults on purpose. */
export function quietLogger(): Logger {
  const logger = createLogger('ingest-gateway-test');
  logger.silent = true;
  return logger;
}
