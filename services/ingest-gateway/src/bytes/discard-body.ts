import type { IncomingMessage } from 'node:http';
import { declaredLength } from './receive-bytes.ts';

export interface DiscardLimits {
  maxBytes: number;
  maxMs: number;
}

/**
 * Reads the rest of a body and throws it away, within limits. A client that is still sending reads no answer, and the
 * connection can only be used again after the last byte.
 *
 * @returns true when the body has ended.
 */
export function discardBody(request: IncomingMessage, limits: DiscardLimits): Promise<boolean> {
  if (request.readableEnded) return Promise.resolve(true);
  if (request.destroyed || declaredLength(request) > limits.maxBytes) return Promise.resolve(false);
  return new Promise((resolve) => {
    let discarded = 0;
    const timer = setTimeout(() => settle(false), limits.maxMs);
    const onData = (piece: Buffer) => {
      discarded += piece.length;
      if (discarded > limits.maxBytes) settle(false);
    };
    const onEnd = () => settle(true);
    const onClose = () => settle(false);
    function settle(hasEnded: boolean): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      if (!hasEnded) request.pause();
      resolve(hasEnded);
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    request.resume();
  });
}
