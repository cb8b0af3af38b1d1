// Collects the properties of an event from the page, the visitor, the session and the application.

import type { Core } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { CaptureResult, JsonValue, Properties } from '../client/values.ts';
import { page, readTimeZone } from '../page/globals.ts';
import { newUuid } from '../values.ts';
import type { EventParts } from './event-parts.ts';

export type Collect = Parameters<Core['addProperties']>[0];

/** The time of an event, and the page state at that time. */
export interface Moment {
  now: Date;
  page: Properties;
}

/**
 * Returns all properties of an event. If several sources have the same property, the later source in this order wins:
 * the page, super properties, features, the event itself, and reserved properties.
 */
export function buildEventProperties(
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
    // The last segments of a UUID are random enough to identify an event.
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

/** Merges the event's groups into the visitor's groups. An empty object in the event changes nothing. */
function groupsOf(registered: JsonValue, own: JsonValue): Properties {
  const isSaid = Object.keys(Object(own)).length > 0;
  return isSaid ? { $groups: { ...Object(registered), ...Object(own) } } : {};
}

export function readPageProperties(): Properties {
  if (!page) return {};
  const { location } = page;
  return {
    $current_url: location.href,
    $host: location.host,
    $pathname: location.pathname,
    $viewport_height: page.innerHeight,
    $viewport_width: page.innerWidth,
  };
}

/** Returns properties of the browser, which do not depend on the visitor's actions. */
function browserProperties(): Properties {
  if (!page) return {};
  const { navigator, screen } = page;
  const { userAgent: agent, language } = navigator;
  return {
    $timezone: readTimeZone(),
    $timezone_offset: new Date().getTimezoneOffset(),
    $raw_user_agent: agent.length > 1000 ? `${agent.slice(0, 997)}...` : agent,
    $browser_language: language,
    $browser_language_prefix: language?.split('-')[0],
    $screen_height: screen?.height,
    $screen_width: screen?.width,
    $lib: 'web',
    $lib_version: libraryVersion,
  };
}
