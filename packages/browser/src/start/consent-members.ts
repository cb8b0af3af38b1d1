import type { Client } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { EventParts } from '../event/event-parts.ts';

type ConsentMembers = Pick<
  Client,
  | 'opt_in_capturing'
  | 'opt_out_capturing'
  | 'has_opted_in_capturing'
  | 'has_opted_out_capturing'
  | 'get_explicit_consent_status'
  | 'clear_opt_in_out_capturing'
>;

export function consentMembers({ capture }: Core, { consent }: EventParts): ConsentMembers {
  return {
    opt_in_capturing({ captureEventName = '$opt_in', captureProperties } = {}) {
      const wasGranted = consent.status() === 'granted';
      consent.set(true);
      if (!wasGranted && captureEventName) capture(captureEventName, captureProperties, { send_instantly: true });
    },
    opt_out_capturing: () => consent.set(false),
    has_opted_in_capturing: () => !consent.isOptedOut(),
    has_opted_out_capturing: consent.isOptedOut,
    get_explicit_consent_status: consent.status,
    clear_opt_in_out_capturing: consent.forget,
  };
}
