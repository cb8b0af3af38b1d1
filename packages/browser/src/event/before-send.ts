import type { CaptureResult } from '../client/captured-event.ts';
import type { Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';

/** As the application changed it; null where it wants it not sent, or its own code failed to say. */
export function runBeforeSend(event: CaptureResult, { before_send: given }: Options, log: Log): CaptureResult | null {
  let result: CaptureResult | null = event;
  for (const change of given === undefined || given === null ? [] : [given].flat()) {
    try {
      result = change(result);
    } catch (error) {
      log.error('before_send failed: the event is dropped', error);
      return null;
    }
    if (!result) {
      log.debug(`before_send dropped ${event.event}`);
      return null;
    }
  }
  return result;
}
