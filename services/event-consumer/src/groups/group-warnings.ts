import { cutToCodePoints } from '@millrace/contracts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { GroupUpdate } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { maxIdCharacters } from '../values/text-length.ts';
import { maxGroupPropertiesBytes } from './fold-group-updates.ts';

/** Enough of a name to recognise it by. */
const shownCharacters = 100;

/** One warning for all over-long group types of an event. */
export function groupTypesTooLong(event: IncomingEvent, groupTypes: readonly string[]): RuleWarning {
  return {
    type: 'group_type_too_long',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      groupTypes: groupTypes.slice(0, 5).map((type) => cutToCodePoints(type, shownCharacters)),
      maxCharacters: maxIdCharacters,
    },
  };
}

export function groupKeyTooLong(event: IncomingEvent, groupKey: string): RuleWarning {
  return {
    type: 'group_key_too_long',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      groupKey: cutToCodePoints(groupKey, shownCharacters),
      maxCharacters: maxIdCharacters,
    },
  };
}

/** The update was refused, the event stored. */
export function groupSizeViolation({ from, index, key }: GroupUpdate): RuleWarning {
  return {
    type: 'group_properties_size_violation',
    details: {
      eventUuid: from.uuid,
      event: from.event,
      distinctId: from.distinctId,
      groupTypeIndex: index,
      groupKey: cutToCodePoints(key, shownCharacters),
      maxBytes: maxGroupPropertiesBytes,
    },
  };
}
