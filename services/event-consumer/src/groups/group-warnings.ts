import type { IncomingEvent } from '../intake/incoming-event.ts';
import { cutText, maxIdCharacters } from '../intake/text-length.ts';
import type { RuleWarning } from '../warnings/warning.ts';

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
      groupTypes: groupTypes.slice(0, 5).map((type) => cutText(type, shownCharacters)),
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
      groupKey: cutText(groupKey, shownCharacters),
      maxCharacters: maxIdCharacters,
    },
  };
}
