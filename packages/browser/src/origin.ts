// Determines where visitors come from: the referrer, the first URL and the campaign. Also masks personal data in URLs.

import type { Options } from './client/client.ts';
import type { Core, Feature } from './client/core.ts';
import type { JsonValue, Properties } from './client/values.ts';
import { attempt, page, readFromDocument } from './page/globals.ts';
import { memoizeLast } from './values.ts';

/** Records the origin of a visitor, session and tab on the first event, and adds it to every event. */
export const createOriginTracking: Feature = (core) => {
  const { options, store, signals } = core;
  const remember = createMemory(core);
  let isSent = false;
  // The result is memoized, because parsing URLs takes longer than the rest of the work for an event.
  const entryOf = memoizeLast((props: JsonValue) => withoutEmpty(propertiesOf(props, '$session_entry_')));

  core.addGate(() => {
    remember();
    return true;
  });
  core.addProperties(() => {
    const sessionId = core.sessionId();
    const known = Object(store.get('$client_session_props')) as { sessionId?: string; props?: Properties };
    const props = known.sessionId === sessionId ? known.props : { ...originNow(options) };
    if (known.sessionId !== sessionId) store.set({ $client_session_props: { sessionId, props } });
    return entryOf(props);
  });
  core.addPageProperties(() =>
    options.mask_personal_data_properties ? { $current_url: maskUrl(page?.location.href ?? '', true) } : {},
  );
  core.initialPersonProperties = () => propertiesOf(store.get('$initial_person_info'), '$initial_');

  // The first event of each page and every `$identify` event set the initial properties of new persons.
  signals.on('capturing', (event) => {
    const isIdentify = event.event === '$identify';
    if (!event.properties.$process_person_profile || (isSent && !isIdentify)) return;
    if (event.event !== '$groupidentify') isSent = true;
    const { props } = Object(store.get('$client_session_props')) as { props?: Properties };
    event.$set_once = { ...core.initialPersonProperties(), ...propertiesOf(props, ''), ...event.$set_once };
  });
  return undefined;
};

/** Stores the referrer of a tab and the origin of a visitor only once. A new campaign replaces the former campaign. */
function createMemory({ options, store, tabStore }: Core): () => void {
  let readAddress = '';
  return () => {
    const { save_campaign_params: areCampaigns, save_referrer: isReferrer } = options;
    const address = page?.location.href ?? '';
    const isElsewhere = address !== readAddress;
    readAddress = address;
    if (isElsewhere) tabStore.set(searchOf(page ? readFromDocument('referrer') : ''));
    if (areCampaigns && isElsewhere) {
      const masked = maskUrl(address, options.mask_personal_data_properties);
      const campaign = campaignOf(masked, options.custom_campaign_params);
      if (Object.values(campaign).some(Boolean)) tabStore.set(campaign);
    }
    if (isReferrer && !tabStore.get('$referrer')) tabStore.set(referrer());
    if ((areCampaigns || isReferrer) && !store.get('$initial_person_info'))
      store.set({ $initial_person_info: { ...originNow(options) } });
  };
}

function withoutEmpty(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value));
}

/** The referrer and the URL at the start of a visit or session. All other origin properties are derived from them. */
interface Origin {
  r: string;
  u?: string;
}

const direct = '$direct';

function referrer(): { $referrer: string; $referring_domain: string } {
  const from = attempt(() => page && readFromDocument('referrer').trim());
  return { $referrer: from || direct, $referring_domain: (from && hostOf(from)) || direct };
}

function originNow({ mask_personal_data_properties: isMasked }: Options): Origin {
  const address = page?.location.href.slice(0, 1000);
  return { r: referrer().$referrer.slice(0, 1000), ...(address && { u: maskUrl(address, isMasked) }) };
}

/** Returns the properties that describe an origin. Each name begins with the prefix. */
function propertiesOf(origin: JsonValue, prefix: '$initial_' | '$session_entry_' | ''): Properties {
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

/** URL parameters that advertisers use to identify visitors. They are masked if the options request it. */
const personal =
  'gclid gclsrc dclid gbraid wbraid fbclid msclkid twclid li_fat_id igshid ttclid rdt_cid epik qclid sccid oppref bfcid irclid _kx'.split(
    ' ',
  );
const campaignNames = [
  ...'utm_source utm_medium utm_campaign utm_content utm_term gad_source mc_cid'.split(' '),
  ...personal,
];

/** Returns the campaign parameters of a URL. Missing parameters are null. */
function campaignOf(address: string, more: string[] = []): Record<string, string | null> {
  const query = queryOf(address);
  return Object.fromEntries([...campaignNames, ...more].map((name) => [name, query.get(name) || null]));
}

function queryOf(address: string): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(address)?.[1] ?? '');
}

/** Masks the URL parameters that identify visitors. */
export function maskUrl(address: string, isMasked: boolean): string {
  if (!isMasked) return address;
  const mask = (_: string, before: string, name: string) => `${before}${name}=<masked>`;
  return address.replace(new RegExp(`([?&])(${personal.join('|')})=[^&#]*`, 'g'), mask);
}

function searchOf(referrer: string): Record<string, string> {
  const engine = /^https?:\/\/.*(google|bing|yahoo|duckduckgo)\.(?:com|[^/?]*)/.exec(referrer)?.[1];
  if (!engine) return {};
  const keyword = queryOf(referrer).get(engine === 'yahoo' ? 'p' : 'q');
  return { $search_engine: engine, ...(keyword && { ph_keyword: keyword }) };
}
