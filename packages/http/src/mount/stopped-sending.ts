import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/errors';

/**
 * To be asked before a body is read: of a client who has left nothing comes any more, not even its end. One reader would wait
 * for ever, another take the body for an empty one.
 *
 * @throws AppError `timeout`.
 */
export function requireSender(request: IncomingMessage): void {
  if (request.destroyed) throw stoppedSending();
}

export function stoppedSending(cause?: unknown): AppError {
  return new AppError('timeout', 'The client stopped sending data.', { cause });
}
