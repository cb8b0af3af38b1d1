import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { type CapturedEvent, eventNames, isObject, type JsonObject } from '@millrace/contracts';
import { v7 as uuidV7 } from 'uuid';
import type { AdmittedEvent } from '../intake/admit.ts';
import { processedName } from '../intake/incoming-event.ts';
import type { ReceivedEvent } from '../intake/parse.ts';
import type { ProjectOf } from '../intake/projects.ts';
import type { DropReason, Refusal } from '../model/event.ts';
import type { WarningType } from '../model/warning.ts';
import { withoutKeys } from '../values/json.ts';
import { type CookielessSalts, isCurrent, type LocalDay, localDay } from './salts.ts';

/**
 * Gives events of visitors without cookies ids made of what every request shows: a hash of the environment, the address,
 * the site and the browser, with a salt that changes every day and is deleted soon after (mode "stateless";
 * docs/settings.md#cookieless-visitors, case E-143). What the id is made of is not stored. Events that
 * cannot have such an id are refused, each with a warning; the rules then drop them.
 *
 * @param events of a batch; those concerned are changed.
 * @throws what PostgreSQL says when it cannot be asked for a salt.
 */
export async function replaceVisitors(
  events: AdmittedEvent[],
  { projectOf, salts, nowMs }: { projectOf: ProjectOf; salts: CookielessSalts; nowMs: number },
): Promise<void> {
  for (const event of events) {
    const { received } = event;
    if (received.cookieless_mode !== true) continue;
    const project = projectOf(received);
    if (received.properties.$cookieless_mode !== true || project === undefined) continue;
    const day = localDay(event.timestampMs, [received.properties.$timezone, project.timezone]);
    const traits = traitsOf(received);
    const problem = project.isCookieless
      ? problemOf(received, traits, isCurrent(day, nowMs))
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

/** Empty where they are missing. */
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

/** A merge would connect a known person with ids that must not identify anybody. */
function problemOf(event: CapturedEvent, traits: Traits, isDayCurrent: boolean): CookielessProblem | null {
  if (mergeEvents.has(processedName(event.event))) return 'cookieless_unsupported_event';
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
  const ids = visitorIds(await salts.of(day), { projectId, ip, rootDomain: site, userAgent, extra }, day.startMs);
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

/** What tells visitors of a project apart who have no cookie. */
interface VisitorTraits {
  projectId: number;
  ip: string;
  rootDomain: string;
  userAgent: string;
  /** A value of the project's own, to tell apart visitors who share everything else. */
  extra: string;
}

/** Ids that are the same for all events of a visitor on one day. */
interface VisitorIds {
  distinctId: string;
  deviceId: string;
  /** A visitor has one session a day: a version 7 UUID of the beginning of the day. */
  sessionId: string;
}

const hashBytes = 16;
const maxExtra = 100;

/** @param dayStartMs of the visitor's day, milliseconds since the epoch. */
function visitorIds(salt: Buffer, traits: VisitorTraits, dayStartMs: number): VisitorIds {
  const { projectId, ip, rootDomain, userAgent, extra } = traits;
  const hash = createHmac('sha256', salt)
    // As JSON no two visitors give one text.
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

/** The list of public suffixes takes 15 MB: it is read in when the first visitor without cookies comes. */
let reading: Promise<typeof import('tldts')> | undefined;

/**
 * The domain that somebody registered (`www.shop.example.co.uk:8080` → `example.co.uk`), so that a visitor is one on all
 * hosts of a site; the host itself where there is none.
 */
async function rootDomain(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  reading ??= import('tldts');
  const { getDomain } = await reading;
  return getDomain(host) ?? host.toLowerCase();
}

/** What the id of a visitor is made of. Stored beside the id, it would reveal whose id it is. */
const traces = new Set(['$ip', '$raw_user_agent', '$cookieless_extra']);
/** As browsers write it to the person. */
const personTraces = new Set([...traces, '$initial_ip', '$initial_raw_user_agent']);

/** The event without them, wherever clients write them. */
function stripIdentifyingProperties({ written: _, ...event }: ReceivedEvent): CapturedEvent {
  const bare: CapturedEvent = { ...event, ip: null, properties: withoutKeys(event.properties, traces) };
  for (const name of ['$set', '$set_once'] as const) {
    const nested = bare.properties[name];
    if (isObject(nested)) bare.properties[name] = withoutKeys(nested, personTraces);
    const beside: JsonObject | undefined = event[name];
    if (beside !== undefined) bare[name] = withoutKeys(beside, personTraces);
  }
  return bare;
}
