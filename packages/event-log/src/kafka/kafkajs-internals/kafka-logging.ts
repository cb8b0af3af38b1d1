import type { Logger } from '@millrace/runtime';
import { type LogEntry, type logCreator, logLevel } from 'kafkajs';

/**
 * Reason: kafkajs reports every retry, rebalance and first coordinator look-up as an error. What matters to an operator is said
 * by this package itself (unreachable, recovered, crashed for good), so nothing of kafkajs's own goes above `debug`,
 * except the one thing we would otherwise not notice: that a listener of ours failed.
 * Relies on: the text with which kafkajs tells of that, and the fields of its log entries that may hold records.
 * Witness: kafka-logging.test.ts.
 * May go: when the client throws errors of listeners where they are seen.
 */
export function kafkaLogCreator(logger: Logger): logCreator {
  return () =>
    ({ namespace, level, log }: LogEntry) => {
      const { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...details } = log;
      const isOurFault = message.startsWith('Failed to execute listener');
      if (isOurFault) logger.error('a kafkajs listener failed', { namespace, detail: message });
      else if (level <= logLevel.INFO && logger.isDebugEnabled()) {
        logger.debug(message, { namespace, ...withoutBuffers(details) });
      }
    };
}

function withoutBuffers(details: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).filter(([name]) => name !== 'payload' && name !== 'data'));
}
