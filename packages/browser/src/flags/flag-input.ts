import type { Core } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties } from '../client/values.ts';
import { attempt } from '../page/globals.ts';

const ofPerson = '$stored_person_properties';
const ofGroups = '$stored_group_properties';

export interface PropertiesToSet {
  $set?: Properties;
  $set_once?: Properties;
}

/**
 * What flags are evaluated with besides what is stored of a person: properties the visitor was given on this device, which
 * the service may not have seen yet. Remembered from page to page.
 */
export function createFlagInput({ store, token, client, distinctId, initialPersonProperties }: Core) {
  const person = () => (store.get(ofPerson) ?? {}) as Properties;
  const groups = () => (store.get(ofGroups) ?? {}) as Record<string, Properties>;

  return {
    /** @returns false when nothing is new. */
    setPerson(properties: Properties | PropertiesToSet): boolean {
      const known = person();
      const { $set, $set_once: once } = properties as PropertiesToSet;
      // `known` comes first too, so that the order of names stays.
      const next = { ...known, ...once, ...known, ...($set ?? (once ? {} : (properties as Properties))) };
      store.set({ [ofPerson]: next });
      return JSON.stringify(next) !== JSON.stringify(known);
    },
    unsetPerson(names: string[]): void {
      const known = { ...person() };
      for (const name of names) delete known[name];
      store.set({ [ofPerson]: known });
    },
    resetPerson: () => store.remove(ofPerson),
    setGroups(properties: Record<string, Properties>): void {
      const known = groups();
      const next = { ...known };
      for (const [type, values] of Object.entries(properties)) next[type] = { ...known[type], ...values };
      store.set({ [ofGroups]: next });
    },
    resetGroups(type?: string): void {
      if (type) store.set({ [ofGroups]: { ...groups(), [type]: {} } });
      else store.remove(ofGroups);
    },
    /** The body of a question, without what only the request knows. */
    question: () => ({
      token,
      distinct_id: distinctId(),
      groups: client.getGroups(),
      person_properties: { ...initialPersonProperties(), ...person(), $lib: 'web', $lib_version: libraryVersion },
      group_properties: store.get(ofGroups),
      timezone: attempt(() => Intl.DateTimeFormat().resolvedOptions().timeZone),
      $device_id: store.get('$device_id') ?? undefined,
    }),
  };
}

export type FlagInput = ReturnType<typeof createFlagInput>;
