import type { CaptureResult } from '../client/captured-event.ts';
import type { Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';

/** As the application changed it; null where it wants it not sent, or its own code failed to say. */
export function runBeforeSend(event: CaptureResult, options: Options, log: Log): CaptureResult | null {
  const { before_send, sanitize_properties } = options;
  let result: CaptureResult | null = event;
  for (const change of [sanitize_properties && sanitizing(sanitize_properties), before_send].flat()) {
    if (!change) continue;
    try {
      result = change(result);
    } catch (error) {
      log.error('before_send failed: the event is dropped', error);
      return null;
    }
    if (!result?.event) {
      // `true`, or the promise of an event, is a mistake.
      log[result ? 'error' : 'debug'](`before_send dropped ${event.event} by returning`, result);
      return null;
    }
  }
  return result;
}

/** What applications had before there was `before_send`. */
function sanitizing(sanitize: NonNullable<Options['sanitize_properties']>): (event: CaptureResult) => CaptureResult {
  return (event) => {
    const { properties, $set_once } = event;
    const { $process_person_profile } = properties;
    return {
      ...event,
      properties: { ...sanitize(properties, event.event), $process_person_profile },
      ...($set_once && { $set_once: sanitize($set_once, '$set_once') }),
    };
  };
}
