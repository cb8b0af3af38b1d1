// Requests flags: decides when to send a request, and builds its body.

import type { FlagMembers } from '../client/client.ts';
import type { Core, ServerResponse } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { readTimeZone } from '../page/globals.ts';

/** Combines changes within this time (for example identify, groups and properties) into one request. */
const debounceMs = 5;
const retryDelayMs = 500;

export interface FlagRequest {
  /** Requests flags for the first time. Does nothing if flags were already requested. */
  begin(): void;
  /** Schedules a request. If a request is in flight, the scheduled request is sent after its response. */
  reload(): void;
  /** Like `reload`, but skips the request if its content has not changed since the last response. */
  reloadIfChanged(): void;
  /**
   * Adds the visitor's former distinct ID to the next request, so that flags which persist across authentication keep
   * their values.
   */
  tellFormerId(distinctId: string | undefined): void;
}

/** Requests flags from the service. Calls `receive` with each response, even if it is an error. Never throws. */
export function createFlagRequest(core: Core, receive: (response: ServerResponse) => void): FlagRequest {
  const { options, sender, url, distinctId } = core;
  let isWaiting = false;
  let hasRequested = false;
  let isUnderWay = false;
  let isWantedAgain = false;
  let isForced = false;
  let lastSuccessful = '';
  let formerId: string | undefined;

  function reload(): void {
    isForced = true;
    reloadIfChanged();
  }

  function reloadIfChanged(): void {
    if (options.advanced_disable_flags || options.advanced_disable_feature_flags) return;
    if (isUnderWay) isWantedAgain = true;
    else if (!isWaiting) setTimeout(requestFlags, debounceMs);
    isWaiting = !isUnderWay;
  }

  async function requestFlags(): Promise<void> {
    isWaiting = false;
    const content = readRequestContent(core);
    const text = JSON.stringify(content);
    if (!isForced && text === lastSuccessful) return;
    isForced = false;
    hasRequested = isUnderWay = true;
    const body = { ...content, $anon_distinct_id: formerId };
    const response = await send(body, options.feature_flag_request_max_retries);
    isUnderWay = false;
    if (response.status === 200) lastSuccessful = text;
    if (response.status === 200 && body.$anon_distinct_id === formerId) formerId = undefined;
    // Ignore the response if the visitor has changed since the request.
    if (body.distinct_id === distinctId()) receive(response);
    else isForced = isWantedAgain = true;
    if (isWantedAgain) {
      isWantedAgain = false;
      reloadIfChanged();
    }
  }

  async function send(body: object, retries: number): Promise<ServerResponse> {
    const response = await sender.request(url('/flags/?v=2', 'flags'), {
      method: 'POST',
      body: { ...body, sent_at: new Date().toISOString() },
      timeoutMs: options.feature_flag_request_timeout_ms,
    });
    if (retries < 1 || (response.status !== 502 && response.status !== 504)) return response;
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    return send(body, retries - 1);
  }

  return {
    begin() {
      if (!hasRequested) reload();
    },
    reload,
    reloadIfChanged,
    tellFormerId(distinctId) {
      formerId = distinctId;
    },
  };
}

const ofPerson = '$stored_person_properties';
const ofGroups = '$stored_group_properties';

type InputMembers = Pick<
  FlagMembers,
  | 'setPersonPropertiesForFlags'
  | 'resetPersonPropertiesForFlags'
  | 'setGroupPropertiesForFlags'
  | 'resetGroupPropertiesForFlags'
>;

/**
 * Stores person and group properties in the browser, for flag requests on all pages. The service may not have processed
 * the events with these properties yet.
 */
export function createFlagInputMembers({ store, signals }: Core, reload: () => void): InputMembers {
  const known = (name: string) => (store.get(name) ?? {}) as Record<string, Properties>;
  const put = (name: string, values: Properties | undefined, isReloading = true) => {
    if (values) store.set({ [name]: values });
    else store.remove(name);
    if (isReloading) reload();
  };

  /** Merges properties that are either plain or in the format `{ $set, $set_once }`. */
  const withSet = (before: Properties, { $set, $set_once: once, ...plain }: Properties): Properties => ({
    ...before,
    ...(once as Properties),
    ...before,
    ...(($set ?? plain) as Properties),
  });

  signals.on('captured', ({ $set, $unset, properties }) => {
    const before = known(ofPerson);
    const next = withSet(before, { ...(properties.$set as Properties), ...$set });
    for (const name of $unset ?? (properties.$unset as string[] | undefined) ?? []) delete next[name];
    if (JSON.stringify(next) !== JSON.stringify(before)) put(ofPerson, next);
  });

  return {
    setPersonPropertiesForFlags: (properties, isReloading) =>
      put(ofPerson, withSet(known(ofPerson), properties), isReloading),
    resetPersonPropertiesForFlags: (isReloading?: boolean) => put(ofPerson, undefined, isReloading),
    setGroupPropertiesForFlags(properties, isReloading) {
      const next = { ...known(ofGroups) };
      for (const [type, values] of Object.entries(properties)) next[type] = { ...next[type], ...values };
      put(ofGroups, next, isReloading);
    },
    resetGroupPropertiesForFlags: (type) => put(ofGroups, type ? { ...known(ofGroups), [type]: {} } : undefined, false),
  };
}

/**
 * Returns a flag request body without `$anon_distinct_id`. `reloadIfChanged` sends a request only if this body has
 * changed.
 */
const readRequestContent = ({ store, token, client, distinctId, initialPersonProperties }: Core) => ({
  token,
  distinct_id: distinctId(),
  groups: client.getGroups(),
  person_properties: {
    ...initialPersonProperties(),
    ...(store.get(ofPerson) as Properties),
    $lib: 'web',
    $lib_version: libraryVersion,
  },
  group_properties: store.get(ofGroups),
  timezone: readTimeZone(),
  $device_id: store.get('$device_id') ?? undefined,
});
