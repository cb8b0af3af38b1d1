import { eventNames, type JsonObject } from '@millrace/contracts';
import type { PersonProcessing } from '../identity/person-processing.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import { withoutKeys } from '../values/json-object.ts';

/**
 * Never stored (docs/ingestion-rules.md#the-event-row): what is bulk to everybody but the SDK, what is stored as the
 * elements chain instead, and `$verified`, which is not the client's to claim.
 */
const always = [
  'ph_product_tours',
  '$product_tours_activated',
  '$override_feature_flag_payloads',
  '$elements',
  '$elements_chain',
  '$verified',
];
const personUpdates = ['$set', '$set_once', '$unset'];
const groupKeys = ['$group_0', '$group_1', '$group_2', '$group_3', '$group_4'];

/** With a person the switch has done its work; without one it stays, to say why. */
const withPerson = new Set([...always, '$process_person_profile']);
/** A group identify never changes its person. */
const withGroup = new Set([...withPerson, ...personUpdates]);
const withoutPerson = new Set([...always, ...personUpdates, ...groupKeys]);

/** The same object where there is nothing to leave out. */
export function stripProperties(event: IncomingEvent, processing: PersonProcessing): JsonObject {
  if (processing === 'personless') return withoutKeys(event.properties, withoutPerson);
  return withoutKeys(event.properties, event.event === eventNames.groupIdentify ? withGroup : withPerson);
}
