// Defines the components that make up an event, and decides whether the event belongs to a person profile.

import type { Options } from '../client/client.ts';
import type { Emitter, Log, Sender, Store } from '../client/core.ts';
import type { Consent } from '../consent.ts';
import type { Session } from '../session.ts';
import type { Stores } from '../storage/store.ts';

export interface EventParts extends Stores {
  options: Options;
  consent: Consent;
  session: Session;
  person: Person;
  sender: Sender;
  signals: Emitter;
  log: Log;
}

interface Person {
  isIdentified(): boolean;
  /** Returns whether events create or change a person profile. */
  hasProfile(): boolean;
  /** Enables the person profile. Returns false if the options forbid a profile. */
  requireProfile(member: string): boolean;
}

export function createPersonProfile(options: Options, store: Store, log: Log): Person {
  const isIdentified = () => store.get('$user_state') === 'identified';
  const hasGroups = () => Object.keys(store.get('$groups') ?? {}).length > 0;
  return {
    isIdentified,
    hasProfile: () =>
      options.person_profiles === 'always' ||
      (options.person_profiles !== 'never' &&
        (isIdentified() || hasGroups() || Boolean(store.get('__alias') || store.get('$epp')))),
    requireProfile(member) {
      const isAllowed = options.person_profiles !== 'never';
      if (isAllowed) store.set({ $epp: true });
      else log.error(`posthog.${member} has no effect: person_profiles is "never"`);
      return isAllowed;
    },
  };
}
