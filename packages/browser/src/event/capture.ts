// Implements `capture`, from the call until the event is in the queue.

import type { Options } from '../client/client.ts';
import type { Core, Log } from '../client/core.ts';
import type { CaptureOptions, CaptureResult, Properties } from '../client/values.ts';
import { newUuid, toJsonValue } from '../values.ts';
import type { EventParts } from './event-parts.ts';
import { buildEventProperties, type Collect, type Moment, readPageProperties } from './properties.ts';

type Gate = Parameters<Core['addGate']>[0];

type EventCapture = Pick<
  Core,
  'capture' | 'begin' | 'captureSoon' | 'settle' | 'addProperties' | 'addPageProperties' | 'addGate'
>;

/**
 * Creates the functions that capture events. Each function runs the checks of all features, collects properties,
 * applies `before_send` and queues the event.
 */
export function createCapture(parts: EventParts): EventCapture {
  const { options, consent, person, sender, signals, log } = parts;
  const collectors: Collect[] = [];
  const pageReaders = [readPageProperties];
  const gates: Gate[] = [];
  const deferred = createDeferredCaptures(log);

  const thisMoment = (): Moment => ({ now: new Date(), page: Object.assign({}, ...pageReaders.map((read) => read())) });

  const eventOf = (name: string, own: Properties, how: CaptureOptions, moment: Moment): CaptureResult => {
    const { $set, $set_once, $unset } = how;
    const { now } = moment;
    const timestamp = timeOf(how.timestamp, log);
    const about = { uuid: uuidOf(how.uuid, now), timestamp: timestamp ?? now };
    const properties = buildEventProperties(parts, collectors, name, own, { ...about, ...moment });
    if (properties.$process_person_profile) person.requireProfile('capture');
    if (timestamp)
      Object.assign(properties, { $event_time_override_provided: true, $event_time_override_system_time: now });
    const event: CaptureResult = { ...about, event: name, properties, ...omitEmpty({ $set, $set_once, $unset }) };
    signals.emit('capturing', event);
    return { ...Object(toJsonValue(event, options.properties_string_max_length)), timestamp: about.timestamp };
  };

  const begin = (name: string, own: Properties, how?: CaptureOptions, at?: Moment): ReturnType<Core['begin']> => {
    if (consent.isOptedOut()) return undefined;
    if (typeof name !== 'string' || !name) return void log.error('capture: the event name is missing', name);
    if (!gates.every((mayPass) => mayPass(name, how))) return undefined;
    const event = eventOf(name, own, how ?? {}, at ?? thisMoment());
    return (more) => {
      Object.assign(event.properties, toJsonValue(more, options.properties_string_max_length));
      const result = runBeforeSend(event, options, log);
      if (!result) return undefined;
      signals.emit('captured', result);
      sender.enqueue(result, { ...how, send_instantly: isUrgent(how) });
      return result;
    };
  };
  const beginNow: Core['begin'] = (name, given, how) => {
    deferred.settle();
    return begin(name, Object(toJsonValue(given)), how);
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

/**
 * Returns whether to send the event immediately, which is the case if the call passes any option except
 * `skip_client_rate_limiting`.
 */
function isUrgent(how: CaptureOptions = {}): boolean {
  return Object.keys(how).some((name) => name !== 'skip_client_rate_limiting');
}

function timeOf(given: unknown, log: Log): Date | undefined {
  if (given instanceof Date && !Number.isNaN(+given)) return given;
  if (given !== undefined) log.error('capture: the timestamp option must be a Date', given);
  return undefined;
}

function uuidOf(given: unknown, now: Date): string {
  return typeof given === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(given) ? given : newUuid(+now);
}

function omitEmpty<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as Partial<Values>;
}

/** Calls the application's hooks. Returns null if a hook drops the event or throws. */
function runBeforeSend(event: CaptureResult, options: Options, log: Log): CaptureResult | null {
  const { before_send, sanitize_properties } = options;
  let result: CaptureResult | null = event;
  for (const change of [sanitize_properties && sanitizing(sanitize_properties), before_send].flat()) {
    if (!change) continue;
    try {
      result = change(result);
    } catch (error) {
      log.error('before_send failed, event dropped', error);
      return null;
    }
    if (!result?.event) {
      // Returning `true` or a promise from a hook is a mistake in the application.
      log[result ? 'error' : 'debug'](`before_send dropped ${event.event} by returning`, result);
      return null;
    }
  }
  return result;
}

/** Converts a `sanitize_properties` hook, the predecessor of `before_send`, to a `before_send` hook. */
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

/**
 * Maximum number of deferred captures that run at once. Browsers postpone tasks during heavy interaction, and running
 * all captures at once afterwards could block the page.
 */
const maxAtOnce = 20;
/** Maximum number of deferred captures, to limit memory use. */
const maxWaiting = 500;

interface DeferredCaptures {
  /** Runs the capture in a separate task. */
  add(capture: () => void): void;
  settle(): void;
}

function createDeferredCaptures(log: Log): DeferredCaptures {
  const waiting: (() => void)[] = [];

  function run(most: number): void {
    for (const capture of waiting.splice(0, most)) {
      try {
        capture();
      } catch (error) {
        log.error(error);
      }
    }
  }
  function runSoon(): void {
    setTimeout(() => {
      run(maxAtOnce);
      if (waiting.length > 0) runSoon();
    });
  }

  return {
    add(capture) {
      if (waiting.length >= maxWaiting) run(1);
      if (waiting.length === 0) runSoon();
      waiting.push(capture);
    },
    settle: () => run(waiting.length),
  };
}
