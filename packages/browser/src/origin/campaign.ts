/** What advertisers put into addresses to know a visitor again: masked where personal data is. */
const personal =
  'gclid gclsrc dclid gbraid wbraid fbclid msclkid twclid li_fat_id igshid ttclid rdt_cid epik qclid sccid oppref bfcid irclid _kx'.split(
    ' ',
  );
const campaignNames = [
  ...'utm_source utm_medium utm_campaign utm_content utm_term gad_source mc_cid'.split(' '),
  ...personal,
];

/** Null for each key the address does not have. */
export function campaignOf(address: string, more: string[] = []): Record<string, string | null> {
  const query = queryOf(address);
  return Object.fromEntries([...campaignNames, ...more].map((name) => [name, query.get(name) || null]));
}

function queryOf(address: string): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(address)?.[1] ?? '');
}

/** The address without what tells visitors apart. */
export function maskAddress(address: string, isMasked: boolean): string {
  if (!isMasked) return address;
  const mask = (_: string, before: string, name: string) => `${before}${name}=<masked>`;
  return address.replace(new RegExp(`([?&])(${personal.join('|')})=[^&#]*`, 'g'), mask);
}

/** Of a visitor who came from a search. */
export function searchOf(referrer: string): Record<string, string> {
  const engine = /^https?:\/\/.*(google|bing|yahoo|duckduckgo)\.(?:com|[^/?]*)/.exec(referrer)?.[1];
  if (!engine) return {};
  const keyword = queryOf(referrer).get(engine === 'yahoo' ? 'p' : 'q');
  return { $search_engine: engine, ...(keyword && { ph_keyword: keyword }) };
}
