import type { CaptureOptions, CaptureResult } from '../client/captured-event.ts';
import type { Core, Log } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import { newUuid } from '../page/new-uuid.ts';
import { toPlain } from '../values/to-plain.ts';
import { runBeforeSend } from './before-send.ts';
import { createDeferredCaptures } from './deferred-captures.ts';
import type { EventParts } from './event-parts.ts';
import { type Collect, eventProperties, type Moment } from './event-properties.ts';
import { pageProperties } from './page-properties.ts';

export type Gate = Parameters<Core['addGate']>[0];

export type EventCapture = Pick<
  Core,
  'capture' | 'begin' | 'captureSoon' | 'settle' | 'addProperties' | 'addPageProperties' | 'addGate'
>;

/** From a call to an event in the queue: may it be captured, what does it say, what does the application make of it. */
export function createCapture(parts: EventParts): EventCapture {
  const { options, consent, person, sender, signals, log } = parts;
  const collectors: Collect[] = [];
  const pageReaders = [pageProperties];
  const gates: Gate[] = [];
  const deferred = createDeferredCaptures(log);

  const thisMoment = (): Moment => ({ now: new Date(), page: Object.assign({}, ...pageReaders.map((read) => read())) });

  const eventOf = (name: string, own: Properties, how: CaptureOptions, moment: Moment): CaptureResult => {
    const { $set, $set_once, $unset } = how;
    const { now } = moment;
    const timestamp = timeOf(how.timestamp, log);
    const about = { uuid: uuidOf(how.uuid, now), timestamp: timestamp ?? now };
    const properties = eventProperties(parts, collectors, name, own, { ...about, ...moment });
    if (properties.$process_person_profile) person.requireProfile('capture');
    if (timestamp)
      Object.assign(properties, { $event_time_override_provided: true, $event_time_override_system_time: now });
    const event: CaptureResult = { ...about, event: name, properties, ...omitEmpty({ $set, $set_once, $unset }) };
    signals.emit('capturing', event);
    return { ...Object(toPlain(event, options.properties_string_max_length)), timestamp: about.timestamp };
  };

  const begin = (name: string, own: Properties, how?: CaptureOptions, at?: Moment): ReturnType<Core['begin']> => {
    if (consent.isOptedOut()) return undefined;
    if (typeof name !== 'string' || !name) return void log.error('capture: the name of an event is missing', name);
    if (!gates.every((mayPass) => mayPass(name, how))) return undefined;
    const event = eventOf(name, own, how ?? {}, at ?? thisMoment());
    return (more) => {
      Object.assign(event.properties, toPlain(more, options.properties_string_max_length));
      const result = runBeforeSend(event, options, log);
      if (!result) return undefined;
      signals.emit('captured', result);
      sender.enqueue(result, { ...how, send_instantly: isUrgent(how) });
      return result;
    };
  };
  const beginNow: Core['begin'] = (name, given, how) => {
    deferred.settle();
    return begin(name, Object(toPlain(given)), how);
  };

  return {
    begin: beginNow,
    capture: (...event) => beginNow(...event)?.(),
    captureSoon(name, own) {
      const at = thisMoment();
      deferred.add(() => begin(name, own(), undefined, at)?.());
    },
    settle: deferred.settle,
    addProperties: (collect) => void collectors.push(collect),
    addPageProperties: (read) => void pageReaders.push(read),
    addGate: (mayPass) => void gates.push(mayPass),
  };
}

/** Whoever gives options wants it sent now; to be free of the rate limit is no such wish. */
function isUrgent(how: CaptureOptions = {}): boolean {
  return Object.keys(how).some((name) => name !== 'skip_client_rate_limiting');
}

function timeOf(given: unknown, log: Log): Date | undefined {
  if (given instanceof Date && !Number.isNaN(+given)) return given;
  if (given !== undefined) log.error('capture: the option timestamp has to be a Date', given);
  return undefined;
}

function uuidOf(given: unknown, now: Date): string {
  return typeof given === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(given) ? given : newUuid(+now);
}

function omitEmpty<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as Partial<Values>;
}
