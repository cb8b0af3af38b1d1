import type { CaptureOptions, CaptureResult } from '../client/captured-event.ts';
import type { Properties } from '../client/values.ts';
import { newUuid } from '../page/new-uuid.ts';
import { toPlain } from '../values/to-plain.ts';
import { runBeforeSend } from './before-send.ts';
import { isBot } from './bots.ts';
import type { EventParts } from './event-parts.ts';
import { type Collect, eventProperties } from './event-properties.ts';
import { createInitials } from './initials.ts';
import { createRateLimit } from './rate-limit.ts';

export type Capture = (
  name: string,
  properties?: Properties | null,
  options?: CaptureOptions,
) => CaptureResult | undefined;

export interface EventCapture {
  capture: Capture;
  addProperties(collect: Collect): void;
}

/** From a call to an event in the queue: may it be captured, what does it say, what does the application make of it. */
export function createCapture(parts: EventParts): EventCapture {
  const { options, consent, person, sender, signals, log } = parts;
  const collectors: Collect[] = [];
  const initials = createInitials(parts);
  const limit = createRateLimit(options, parts.store);
  let isBotTold = false;

  const mayCapture = (name: unknown): name is string => {
    if (consent.isOptedOut()) return false;
    if (typeof name !== 'string' || name === '') {
      log.error('posthog.capture needs the name of an event, got', name);
      return false;
    }
    if (options.opt_out_useragent_filter || !isBot()) return true;
    if (!isBotTold) log.warn('This browser looks like a bot: no events are sent (option opt_out_useragent_filter)');
    isBotTold = true;
    return false;
  };

  const capture: Capture = (name, given, how) => {
    if (!mayCapture(name)) return undefined;
    const left = how?.skip_client_rate_limiting ? undefined : limit.take();
    if (left === null) return undefined;
    initials.remember();
    const event = eventOf(name, (toPlain(given ?? {}) ?? {}) as Properties, how);
    if (left !== undefined) event.properties.$lib_rate_limit_remaining_tokens = left;
    const once = initials.setOnce(name, how?.$set_once);
    if (once) event.$set_once = once;
    const short = { ...(toPlain(event, options.properties_string_max_length) as object), timestamp: event.timestamp };
    const result = runBeforeSend(short as CaptureResult, options, log);
    if (!result) return undefined;
    signals.emit('captured', result);
    sender.enqueue(result, { ...how, send_instantly: isUrgent(how) });
    return result;
  };

  const eventOf = (name: string, own: Properties, how: CaptureOptions = {}): CaptureResult => {
    const now = new Date();
    const about = { uuid: uuidOf(how.uuid), timestamp: how.timestamp ?? now };
    const properties = eventProperties(parts, collectors, name, own, about);
    if (properties.$process_person_profile) person.requireProfile('capture');
    if (how.timestamp) Object.assign(properties, overridden(now));
    const { $set, $unset } = how;
    return { ...about, event: name, properties, ...($set && { $set }), ...($unset && { $unset }) };
  };

  return { capture, addProperties: (collect) => void collectors.push(collect) };
}

/** Whoever gives options wants it sent now; to be free of the rate limit is no such wish. */
function isUrgent(how: CaptureOptions = {}): boolean {
  return Object.keys(how).some((name) => name !== 'skip_client_rate_limiting');
}

function uuidOf(given: unknown): string {
  return typeof given === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(given) ? given : newUuid();
}

function overridden(now: Date): Properties {
  return { $event_time_override_provided: true, $event_time_override_system_time: now };
}
