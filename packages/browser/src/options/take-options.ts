import type { InitOptions, Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';

/** From what an application gave to options by today's names. */
export type ReadOptions = (given: InitOptions | undefined, log: Log) => Partial<Options>;

/** What an option was called before. */
const formerNames: Record<string, string> = {
  process_person: 'person_profiles',
  xhr_headers: 'request_headers',
  cookie_name: 'persistence_name',
  disable_cookie: 'disable_persistence',
  store_google: 'save_campaign_params',
  verbose: 'debug',
  property_blacklist: 'property_denylist',
};

/** As they are: whoever wants to be told of mistakes takes the full build. */
export const takeOptions: ReadOptions = (given) => {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(Object(given))) {
    const today = formerNames[name] ?? name;
    if (value === undefined || (today !== name && today in Object(given))) continue;
    options[today] = today.endsWith('_host') && typeof value === 'string' ? value.trim().replace(/\/+$/, '') : value;
  }
  return options;
};
