import { recordKey } from '@millrace/contracts';
import type { AcceptedEvent, CapturedEvents } from '../request/to-captured-events.ts';
import type { KeyRestrictions } from './restriction-set.ts';

/** What became of the events of one request, for the figures. */
export interface Routing {
  captured: CapturedEvents;
  blocked: number;
  forced: number;
  personless: number;
  hot: number;
}

/**
 * Applies the operator's lists and sends the events of hot keys to the overflow lane. Order of precedence: drop, then
 * historical (nothing reroutes it), then forced overflow, then hot (docs/wire-rules.md#lanes).
 * - Forced overflow: no key, no person, so its events spread over all partitions (case R09).
 * - Hot: the key stays, so that one person's events stay in order; it delays only who shares its overflow partition.
 *
 * @param restrictions of the request's project key, if there are any.
 */
export function routeEvents(
  captured: CapturedEvents,
  restrictions: KeyRestrictions | undefined,
  isHot: (key: string) => boolean,
): Routing {
  const routing: Routing = { captured, blocked: 0, forced: 0, personless: 0, hot: 0 };
  const isLive = captured.lane === 'live';
  const accepted: AcceptedEvent[] = [];
  for (const event of captured.accepted) {
    const { record, index, partitionId } = event;
    if (restrictions?.applies('drop_event', record.distinct_id)) {
      captured.dropped.add('blocked_token', { index, uuid: record.uuid, event: record.event });
      routing.blocked += 1;
      continue;
    }
    accepted.push(event);
    const isForced = isLive && restrictions?.applies('force_overflow', record.distinct_id) === true;
    if (isForced || restrictions?.applies('skip_person_processing', record.distinct_id)) {
      record.force_disable_person_processing = true;
      routing.personless += 1;
    }
    if (isForced) {
      event.overflow = 'spread';
      routing.forced += 1;
    } else if (isLive && isHot(recordKey('live', captured.token, partitionId))) {
      event.overflow = 'in_order';
      routing.hot += 1;
    }
  }
  if (routing.blocked > 0) routing.captured = { ...captured, accepted };
  return routing;
}
