// Gives the events of cookieless visitors distinct IDs that cannot be traced back to the visitor.

import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { type CapturedEvent, eventNames, isObject, type JsonObject } from '@millrace/contracts';
import { v7 as uuidV7 } from 'uuid';
import type { AdmittedEvent } from '../intake/admit.ts';
import { normalizeEventName } from '../intake/incoming-event.ts';
import type { ReceivedEvent } from '../intake/parse.ts';
import type { FindProject } from '../intake/projects.ts';
import type { DropReason, Refusal } from '../model/event.ts';
import type { WarningType } from '../model/warning.ts';
import { omitKeys } from '../values/json.ts';
import { type CookielessSalts, isCurrentDay, type LocalDay, toLocalDay } from './salts.ts';

/**
 * Replaces the IDs of cookieless visitors with a hash of data in every request: environment, IP address, site and
 * browser. The hash includes a salt that changes daily and is deleted soon afterwards (mode "stateless",
 * docs/settings.md#cookieless-visitors, case ingest-143). Does not store the hashed data. An event that cannot have
 * such an ID is marked as refused with a warning, and the rules then drop it.
 * @param events the events of a batch. Cookieless ones are modified.
 * @throws errors from PostgreSQL if a salt cannot be read
 */
export async function replaceCookielessIds(
  events: AdmittedEvent[],
  { projectOf, salts, nowMs }: { projectOf: FindProject; salts: CookielessSalts; nowMs: number },
): Promise<void> {
  for (const event of events) {
    const { received } = event;
    if (received.cookieless_mode !== true) continue;
    const project = projectOf(received);
    if (received.properties.$cookieless_mode !== true || project === undefined) continue;
    const day = toLocalDay(event.timestampMs, [received.properties.$timezone, project.timezone]);
    const traits = traitsOf(received);
    const problem = project.isCookieless
      ? problemOf(received, traits, isCurrentDay(day, nowMs))
      : 'cookieless_mode_disabled';
    if (problem !== null) event.refusal = refusalOf(problem, received);
    else event.received = await withVisitorIds(received, { projectId: project.id, traits, day, salts });
  }
}

interface Traits {
  userAgent: string;
  ip: string;
  host: string;
  extra: string;
}

/** Returns a visitor's traits. If a trait is missing, it is an empty string. */
function traitsOf({ ip, properties }: CapturedEvent): Traits {
  const { $raw_user_agent, $ip, $host, $cookieless_extra } = properties;
  return {
    userAgent: textOf($raw_user_agent),
    ip: textOf($ip) || textOf(ip),
    host: textOf($host),
    extra: textOf($cookieless_extra),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

type CookielessProblem = Extract<DropReason & WarningType, `cookieless_${string}`>;

const mergeEvents = new Set<string>([eventNames.identify, eventNames.createAlias, eventNames.mergeDangerously]);

/**
 * Returns why an event cannot have a cookieless ID, or null if it can. Merge events are rejected, because they would
 * link a known person to IDs that must not identify anyone.
 */
function problemOf(event: CapturedEvent, traits: Traits, isDayCurrent: boolean): CookielessProblem | null {
  if (mergeEvents.has(normalizeEventName(event.event))) return 'cookieless_unsupported_event';
  if (traits.userAgent === '') return 'cookieless_missing_user_agent';
  if (traits.ip === '') return 'cookieless_missing_ip';
  if (traits.host === '') return 'cookieless_missing_host';
  return isDayCurrent ? null : 'cookieless_timestamp_out_of_range';
}

function refusalOf(problem: CookielessProblem, { uuid, event }: CapturedEvent): Refusal {
  return { reason: problem, warning: { type: problem, details: { eventUuid: uuid, event } } };
}

interface Visit {
  projectId: number;
  traits: Traits;
  day: LocalDay;
  salts: CookielessSalts;
}

async function withVisitorIds(event: ReceivedEvent, { projectId, traits, day, salts }: Visit): Promise<CapturedEvent> {
  const { userAgent, ip, host, extra } = traits;
  const site = await rootDomain(host);
  const ids = visitorIds(await salts.find(day), { projectId, ip, rootDomain: site, userAgent, extra }, day.startMs);
  const bare = stripIdentifyingProperties(event);
  const { distinct_id } = bare.properties;
  const properties: JsonObject = {
    ...bare.properties,
    $device_id: ids.deviceId,
    $session_id: ids.sessionId,
    ...(distinct_id === undefined ? {} : { distinct_id: ids.distinctId }),
  };
  return { ...bare, distinct_id: ids.distinctId, properties };
}

interface VisitorTraits {
  projectId: number;
  ip: string;
  rootDomain: string;
  userAgent: string;
  /** A string that the project can set to distinguish visitors whose other traits are equal. */
  extra: string;
}

interface VisitorIds {
  distinctId: string;
  deviceId: string;
  /** A version 7 UUID with the start of the day as its time, because a visitor has one session per day. */
  sessionId: string;
}

const hashBytes = 16;
const maxExtra = 100;

/**
 * Returns the IDs of a visitor for one day.
 * @param dayStartMs the start of the visitor's day, in milliseconds since the epoch
 */
function visitorIds(salt: Buffer, traits: VisitorTraits, dayStartMs: number): VisitorIds {
  const { projectId, ip, rootDomain, userAgent, extra } = traits;
  const hash = createHmac('sha256', salt)
    // JSON makes the boundaries between the list items unambiguous.
    .update(JSON.stringify([projectId, ip, rootDomain, userAgent, extra.slice(0, maxExtra)]))
    .digest();
  const id = hash.toString('base64url', 0, hashBytes);
  const random = hash.subarray(hashBytes, 2 * hashBytes);
  return {
    distinctId: `cookieless_${id}`,
    deviceId: `cookielessd_${id}`,
    sessionId: uuidV7({ msecs: Math.max(0, dayStartMs), random }),
  };
}

/** The public suffix list uses 15 MB, so load it only when the first cookieless visitor arrives. */
let reading: Promise<typeof import('tldts')> | undefined;

/**
 * Returns the registered domain of a host, such as `example.co.uk` for `www.shop.example.co.uk:8080`, so that a visitor
 * has the same ID on all hosts of a site. Returns the host itself if it has no registered domain.
 */
async function rootDomain(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  reading ??= import('tldts');
  const { getDomain } = await reading;
  return getDomain(host) ?? host.toLowerCase();
}

/**
 * The properties from which cookieless IDs are computed. If they were stored together with the ID, they would identify
 * the visitor.
 */
const traces = new Set(['$ip', '$raw_user_agent', '$cookieless_extra']);
/** The names that browsers use for these properties on the person. */
const personTraces = new Set([...traces, '$initial_ip', '$initial_raw_user_agent']);

/** Removes the properties that the ID was computed from, wherever clients write them. */
function stripIdentifyingProperties({ written: _, ...event }: ReceivedEvent): CapturedEvent {
  const bare: CapturedEvent = { ...event, ip: null, properties: omitKeys(event.properties, traces) };
  for (const name of ['$set', '$set_once'] as const) {
    const nested = bare.properties[name];
    if (isObject(nested)) bare.properties[name] = omitKeys(nested, personTraces);
    const topLevel: JsonObject | undefined = event[name];
    if (topLevel !== undefined) bare[name] = omitKeys(topLevel, personTraces);
  }
  return bare;
}
