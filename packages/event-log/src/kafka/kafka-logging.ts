import type { Logger } from '@millrace/runtime';
import { type LogEntry, type logCreator, logLevel } from 'kafkajs';

/**
 * kafkajs reports every retry, rebalance and first coordinator look-up as an error. What matters to an operator is said
 * by this package itself (unreachable, recovered, crashed for good), so nothing of kafkajs's own goes above `debug`,
 * except the one thing we would otherwise not notice: that it throttles or drops a listener of ours.
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
