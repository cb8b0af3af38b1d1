import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import type { AdmittedEvent } from '../intake/admit-event.ts';
import type { Refusal } from '../intake/refuse-event.ts';
import type { ProjectOf } from '../intake/resolve-projects.ts';
import { processedName } from '../intake/to-incoming-event.ts';
import { parseWhole } from '../intake/unparsed-event.ts';
import type { DropReason } from '../model/event-outcome.ts';
import type { WarningType } from '../model/warning.ts';
import { isCurrent, type LocalDay, localDay } from './local-day.ts';
import { rootDomain } from './root-domain.ts';
import type { CookielessSalts } from './salts.ts';
import { stripIdentifyingProperties } from './strip-identifying-properties.ts';
import { visitorIds } from './visitor-ids.ts';

/** Sent in place of a distinct id by clients that set no cookie. */
const sentinel = '$posthog_cookieless';

/**
 * Gives events of visitors without cookies ids made of what every request shows: a hash of the environment, the address,
 * the site and the browser, with a salt that changes every day and is deleted soon after (mode "stateless";
 * docs/settings.md#visitors-without-cookies, case E-143). What the id is made of is not stored. Events that
 * cannot have such an id are refused, each with a warning; the rules then drop them.
 *
 * @param events of a batch; those concerned are changed.
 * @throws UnreadableProperties as `readProperties` does, and what PostgreSQL says when it cannot be asked for a salt.
 */
export async function replaceVisitors(
  events: AdmittedEvent[],
  { projectOf, salts, nowMs }: { projectOf: ProjectOf; salts: CookielessSalts; nowMs: number },
): Promise<void> {
  for (const event of events) {
    const { received } = event;
    // Gateways of a former version do not say so.
    if (received.cookieless_mode !== true && received.distinct_id !== sentinel) continue;
    const whole = parseWhole(received);
    const project = projectOf(received);
    if (whole.properties.$cookieless_mode !== true || project === undefined) continue;
    const day = localDay(event.timestampMs, [whole.properties.$timezone, project.timezone]);
    const traits = traitsOf(whole);
    const problem = project.isCookieless ? problemOf(whole, traits, isCurrent(day, nowMs)) : 'cookieless_mode_disabled';
    if (problem !== null) event.refusal = refusalOf(problem, whole);
    else event.received = await withVisitorIds(whole, { projectId: project.id, traits, day, salts });
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

async function withVisitorIds(event: CapturedEvent, { projectId, traits, day, salts }: Visit): Promise<CapturedEvent> {
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
