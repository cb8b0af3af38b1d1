// Asking for flags: what is known of the visitor, and when the service is asked.

import type { FlagMembers } from '../client/client.ts';
import type { Answer, Core } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { timeZone } from '../page/globals.ts';

/** Changes of one moment (identify with groups and properties) become one request. */
const debounceMs = 5;
const retryDelayMs = 500;

export interface FlagRequest {
  /** Unless something else has already asked. */
  begin(): void;
  /** Soon, and after the request under way if there is one. */
  reload(): void;
  /** The same, unless it would ask what was just answered. */
  reloadIfChanged(): void;
  /** The next question tells who the visitor was, so that flags that keep their value for a person do. */
  tellFormerId(distinctId: string | undefined): void;
}

/** Asks the service for flags. A failure is an answer too; nothing is thrown. */
export function createFlagRequest(core: Core, receive: (answer: Answer) => void): FlagRequest {
  const { options, sender, url, distinctId } = core;
  let isWaiting = false;
  let isAsked = false;
  let isUnderWay = false;
  let isWantedAgain = false;
  let isForced = false;
  let answered = '';
  let formerId: string | undefined;

  function reload(): void {
    isForced = true;
    reloadIfChanged();
  }

  function reloadIfChanged(): void {
    if (options.advanced_disable_flags || options.advanced_disable_feature_flags) return;
    if (isUnderWay) isWantedAgain = true;
    else if (!isWaiting) setTimeout(ask, debounceMs);
    isWaiting = !isUnderWay;
  }

  async function ask(): Promise<void> {
    isWaiting = false;
    const question = questionOf(core);
    const text = JSON.stringify(question);
    if (!isForced && text === answered) return;
    isForced = false;
    isAsked = isUnderWay = true;
    const body = { ...question, $anon_distinct_id: formerId };
    const answer = await send(body, options.feature_flag_request_max_retries);
    isUnderWay = false;
    if (answer.status === 200) answered = text;
    if (answer.status === 200 && body.$anon_distinct_id === formerId) formerId = undefined;
    // An answer for who the visitor was before says nothing of who they are now.
    if (body.distinct_id === distinctId()) receive(answer);
    else isForced = isWantedAgain = true;
    if (isWantedAgain) {
      isWantedAgain = false;
      reloadIfChanged();
    }
  }

  async function send(body: object, retries: number): Promise<Answer> {
    const answer = await sender.request(url('/flags/?v=2', 'flags'), {
      method: 'POST',
      body: { ...body, sent_at: new Date().toISOString() },
      timeoutMs: options.feature_flag_request_timeout_ms,
    });
    if (retries < 1 || (answer.status !== 502 && answer.status !== 504)) return answer;
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    return send(body, retries - 1);
  }

  return {
    begin() {
      if (!isAsked) reload();
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
 * What flags are evaluated with besides what is stored of a person: properties the visitor was given on this device, which
 * the service may not have seen yet. Remembered from page to page.
 */
export function createInputMembers({ store, signals }: Core, reload: () => void): InputMembers {
  const known = (name: string) => (store.get(name) ?? {}) as Record<string, Properties>;
  const put = (name: string, values: Properties | undefined, isReloading = true) => {
    if (values) store.set({ [name]: values });
    else store.remove(name);
    if (isReloading) reload();
  };

  /** Both `{ $set, $set_once }` and the properties alone. */
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

/** The body of a question, without what only the request knows. */
const questionOf = ({ store, token, client, distinctId, initialPersonProperties }: Core) => ({
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
  timezone: timeZone(),
  $device_id: store.get('$device_id') ?? undefined,
});
