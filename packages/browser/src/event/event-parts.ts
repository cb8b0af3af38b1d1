import type { Options } from '../client/client.ts';
import type { Emitter, Log, Sender } from '../client/core.ts';
import type { Consent } from '../consent/create-consent.ts';
import type { Person } from '../person/create-person.ts';
import type { Session } from '../session/create-session.ts';
import type { Stores } from '../storage/open-stores.ts';

/** What an event is made of. */
export interface EventParts extends Stores {
  options: Options;
  consent: Consent;
  session: Session;
  person: Person;
  sender: Sender;
  signals: Emitter;
  log: Log;
}
