import type { CaptureResult } from '../client/captured-event.ts';
import type { Core } from '../client/core.ts';
import type { JsonValue, Properties } from '../client/values.ts';
import { newUuid } from '../page/new-uuid.ts';
import type { EventParts } from './event-parts.ts';
import { browserProperties } from './page-properties.ts';

export type Collect = Parameters<Core['addProperties']>[0];

/** When something happened, and what the page showed then. */
export interface Moment {
  now: Date;
  page: Properties;
}

/** Everything an event says, later wins: the page, super properties, features, its own, and what nobody may set. */
export function eventProperties(
  { options, store, tabStore, session, person, log }: EventParts,
  collectors: Collect[],
  name: string,
  own: Properties,
  { uuid, timestamp, now, page }: Moment & Pick<CaptureResult, 'uuid' | 'timestamp'>,
): Properties {
  const { sessionId, windowId } = session.touch(+timestamp);
  const collected: Properties = {};
  for (const collect of collectors) {
    try {
      Object.assign(collected, collect(name, uuid, timestamp));
    } catch (error) {
      log.error(error);
    }
  }
  const registered = store.superProperties();
  const properties: Properties = {
    ...browserProperties(),
    ...page,
    // The random half of one.
    $insert_id: newUuid().slice(19).replace('-', ''),
    $time: +now / 1000,
    ...tabStore.superProperties(),
    ...registered,
    ...collected,
    ...own,
    ...groupsOf(registered.$groups, own.$groups),
    token: options.token,
    $config_defaults: options.defaults,
    $session_id: sessionId,
    $window_id: windowId,
    $recording_status: 'disabled',
    $lib_custom_api_host: options.api_host,
    $is_identified: person.isIdentified(),
  };
  for (const denied of options.property_denylist) delete properties[denied];
  properties.$process_person_profile = person.hasProfile();
  return properties;
}

/** Groups of the event come on top of the visitor's; an empty object is for none. */
function groupsOf(registered: JsonValue, own: JsonValue): Properties {
  const isSaid = Object.keys(Object(own)).length > 0;
  return isSaid ? { $groups: { ...Object(registered), ...Object(own) } } : {};
}
