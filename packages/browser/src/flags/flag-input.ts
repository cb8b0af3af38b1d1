import type { FlagMembers } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { timeZone } from '../page/time-zone.ts';

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
export const questionOf = ({ store, token, client, distinctId, initialPersonProperties }: Core) => ({
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
