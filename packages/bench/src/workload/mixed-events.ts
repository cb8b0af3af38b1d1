// Generates events like those of an ordinary product.

import { createHash } from 'node:crypto';
import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import { seededRandom } from '@millrace/testing/seeded-random';
import { createFillerProperties } from './gateway-workloads.ts';

/**
 * Shares of events from new persons, `$identify` events that merge persons, and group updates. All remaining events are
 * plain.
 */
export const eventMix = { newPersonShare: 0.3, identifyShare: 0.05, groupIdentifyShare: 0.02 } as const;

const propertyBytes = 1024;
export const groupCount = 500;

/**
 * Generates the events of an ordinary product in the proportions of `eventMix`, with properties of about 1 KB. Visitors
 * are anonymous at first and return later. Some of them sign in, which merges their anonymous person into a user. Some
 * events update companies. The same seed always produces the same events.
 */
export function* generateMixedEvents(
  count: number,
  token: string,
  seed = 1,
  companies = groupCount,
): Generator<CapturedEvent> {
  const random = seededRandom(seed);
  const startedAtMs = Date.now() - count;
  const anonymous: string[] = [];
  const known: string[] = [];
  const pick = (ids: readonly string[]) => ids[Math.floor(random() * ids.length)] ?? 'visitor-0';

  function decide(index: number): { event: string; distinctId: string; properties: JsonObject } {
    const dice = random();
    if (dice < eventMix.newPersonShare || known.length === 0) {
      const distinctId = `visitor-${seed}-${index}`;
      anonymous.push(distinctId);
      known.push(distinctId);
      return { event: eventNames.pageview, distinctId, properties: {} };
    }
    if (dice < eventMix.newPersonShare + eventMix.identifyShare && anonymous.length > 0) {
      const [visitor = ''] = anonymous.splice(Math.floor(random() * anonymous.length), 1);
      const distinctId = `user-${seed}-${index}`;
      known.push(distinctId);
      const $set = { plan: random() < 0.5 ? 'free' : 'pro', name: `Person ${index}` };
      return { event: eventNames.identify, distinctId, properties: { $anon_distinct_id: visitor, $set } };
    }
    const distinctId = pick(known);
    const company = `company-${Math.floor(random() * companies)}`;
    if (dice < eventMix.newPersonShare + eventMix.identifyShare + eventMix.groupIdentifyShare) {
      const $group_set = { name: company, seats: Math.floor(random() * 100) };
      return {
        event: eventNames.groupIdentify,
        distinctId,
        properties: { $group_type: 'company', $group_key: company, $group_set },
      };
    }
    const properties = random() < 0.25 ? { $groups: { company } } : {};
    return { event: random() < 0.5 ? eventNames.pageview : 'order placed', distinctId, properties };
  }

  for (let index = 0; index < count; index++) {
    const { event, distinctId, properties } = decide(index);
    const timestamp = new Date(startedAtMs + index).toISOString();
    yield {
      kind: 'event',
      uuid: deterministicUuid(`${seed}:${index}`),
      token,
      distinct_id: distinctId,
      event,
      timestamp,
      now: timestamp,
      ip: '198.51.100.7',
      properties: { ...createFillerProperties(index, propertyBytes), ...properties },
    };
  }
}

/** Builds a UUID with an increasing prefix and random remaining digits, which affects indexes like a version 7 UUID. */
function deterministicUuid(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  const rising = Number(text.split(':')[1]).toString(16).padStart(12, '0');
  return `${rising.slice(0, 8)}-${rising.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
