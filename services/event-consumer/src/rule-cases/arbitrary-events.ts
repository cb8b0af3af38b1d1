import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import fc from 'fast-check';
import { admitEvent } from '../intake/admit.ts';
import { toIncomingEvent } from '../intake/incoming-event.ts';
import type { IncomingEvent, IngestProject } from '../model/event.ts';
import { deepFreeze } from './rule-world.ts';

/** There are few IDs, keys and names, so that many events use the same ones. */
const distinctId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'null', '__proto__');
const key = fc.constantFrom('x', 'y', '$browser', '$current_url', 'toString', '__proto__');
const value = fc.oneof(fc.constantFrom(null, 0, 1, 'text', true), fc.constant({ o: [1, { p: 2 }] }));
const map = fc.dictionary(key, value, { maxKeys: 3 });
const groupType = fc.constantFrom('org', 'team', 'site', 'shop', 'fleet', 'sixth', '__proto__');
const groupKey = fc.constantFrom('1', '2');

const eventProperties: fc.Arbitrary<JsonObject> = fc.record(
  {
    $set: map,
    $set_once: map,
    $unset: fc.array(key, { maxLength: 2 }),
    $browser: fc.constantFrom('Firefox', 'Chrome'),
    $groups: fc.dictionary(groupType, groupKey, { maxKeys: 3 }),
    $process_person_profile: fc.constantFrom(true, false, 'odd'),
  },
  { requiredKeys: [] },
);

const plainEvent = fc.record({
  event: fc.constantFrom<string>('bought', eventNames.pageview, eventNames.set, eventNames.exception, 'survey shown'),
  properties: eventProperties,
});

const identifyEvent = fc.record({
  event: fc.constant<string>(eventNames.identify),
  properties: withKey('$anon_distinct_id', fc.oneof({ weight: 9, arbitrary: distinctId }, fc.constantFrom(null, 7))),
});

const aliasEvent = fc.record({
  event: fc.constantFrom<string>(eventNames.createAlias, eventNames.mergeDangerously),
  properties: withKey('alias', fc.oneof({ weight: 9, arbitrary: distinctId }, fc.constantFrom(null, {}))),
});

const groupIdentifyEvent = fc.record({
  event: fc.constantFrom<string>(eventNames.groupIdentify, eventNames.groupIdentifySynonym),
  properties: fc.record({
    $group_type: groupType,
    $group_key: groupKey,
    $group_set: fc.oneof({ weight: 9, arbitrary: map }, fc.constant('odd')),
  }),
});

function withKey(name: string, arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> {
  return fc.tuple(eventProperties, arbitrary).map(([properties, id]) => ({ ...properties, [name]: id }));
}

const minute = 60_000;
const start = Date.parse('2026-03-01T12:00:00.000Z');

export const arbitraryCaptured: fc.Arbitrary<CapturedEvent> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: plainEvent },
      { weight: 4, arbitrary: identifyEvent },
      { weight: 3, arbitrary: aliasEvent },
      { weight: 2, arbitrary: groupIdentifyEvent },
    ),
    distinctId,
    fc.integer({ min: 0, max: 20 }),
    fc.uuid(),
  )
  .map(
    ([{ event, properties }, distinct_id, minutes, uuid]): CapturedEvent => ({
      kind: 'event',
      uuid,
      token: 'phc_test',
      distinct_id,
      event,
      timestamp: new Date(start + minutes * minute).toISOString(),
      now: new Date(start + 10 * minute).toISOString(),
      ip: null,
      properties,
    }),
  );

export const testProject: IngestProject = {
  id: 1,
  token: 'phc_test',
  anonymizeIps: false,
  personProcessingOptOut: false,
};

/** Returns an event that is ready for the rules. It is frozen, so a rule that modifies it throws an error. */
export function incoming(captured: CapturedEvent): IncomingEvent {
  const received = { ...captured, properties: { ...captured.properties } };
  const admission = admitEvent(received, testProject, { log: 'test', topic: 'events.live', partition: 0, offset: 0n });
  if (admission.kind === 'drop') throw new Error('the test made an event that is not admitted');
  return deepFreeze(toIncomingEvent(admission.event));
}

export const arbitraryEvent: fc.Arbitrary<IncomingEvent> = arbitraryCaptured.map(incoming);
export const arbitraryEvents = fc.array(arbitraryEvent, { maxLength: 30, size: 'max' });
