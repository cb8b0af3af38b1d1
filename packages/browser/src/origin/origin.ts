import type { Options } from '../client/client.ts';
import type { JsonValue, Properties } from '../client/values.ts';
import { attempt, page } from '../page/globals.ts';
import { campaignOf, maskAddress, searchOf } from './campaign.ts';

/** Where a visitor, or a session, came from: referrer and address, from which all else can be read. */
export interface Origin {
  r: string;
  u?: string;
}

const direct = '$direct';

export function referrer(): { $referrer: string; $referring_domain: string } {
  // A form called `referrer` is what `document.referrer` is then.
  const from = attempt(() => page?.document.referrer.trim());
  return { $referrer: from || direct, $referring_domain: (from && hostOf(from)) || direct };
}

export function originNow({ mask_personal_data_properties: isMasked }: Options): Origin {
  const address = page?.location.href.slice(0, 1000);
  return { r: referrer().$referrer.slice(0, 1000), ...(address && { u: maskAddress(address, isMasked) }) };
}

/** The properties an origin stands for, each name with a prefix. */
export function propertiesOf(origin: JsonValue, prefix: '$initial_' | '$session_entry_' | ''): Properties {
  const { r, u } = (origin ?? {}) as Partial<Origin>;
  if (!r) return {};
  const address = u ? attempt(() => new URL(u)) : undefined;
  const all: Properties = {
    $referrer: r,
    $referring_domain: r === direct ? direct : hostOf(r),
    ...(u && { $current_url: u, $host: address?.host, $pathname: address?.pathname, ...campaignOf(u) }),
    ...searchOf(r),
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [renamed(name, prefix), value]));
}

function renamed(name: string, prefix: string): string {
  if (prefix === '') return name;
  if (prefix === '$session_entry_' && name === '$current_url') return '$session_entry_url';
  return prefix + name.replace(/^\$/, '');
}

function hostOf(address: string): string | undefined {
  return attempt(() => new URL(address).host);
}
