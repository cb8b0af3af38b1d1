import type { InitOptions, Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';
import { isOfKind, optionKinds } from './option-kinds.ts';

/** What an option was called before. */
const formerNames: Record<string, keyof Options> = {
  process_person: 'person_profiles',
  xhr_headers: 'request_headers',
  cookie_name: 'persistence_name',
  disable_cookie: 'disable_persistence',
  store_google: 'save_campaign_params',
  verbose: 'debug',
  property_blacklist: 'property_denylist',
};

/** What can be used of what an application gave, by today's names. What cannot is named on the console. */
export function readOptions(given: InitOptions | undefined, log: Log): Partial<Options> {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object') {
    log.error('The options must be an object');
    return {};
  }
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given).sort(([one]) => (one in formerNames ? -1 : 1))) {
    const today = formerNames[name] ?? name;
    const kind = optionKinds[today as keyof Options];
    if (kind === undefined) log.debug(`The option ${name} is not known here and does nothing`);
    else if (value !== undefined && !isOfKind(value, kind))
      log.error(`The option ${name} cannot be`, value, expected(kind));
    else if (value !== undefined)
      options[today] = /_host$/.test(today) && value ? String(value).trim().replace(/\/+$/, '') : value;
  }
  return options;
}

function expected(kind: string | readonly unknown[]): string {
  const words: Record<string, string> = { b: 'boolean', s: 'text', n: 'number', o: 'object', a: 'list', f: 'function' };
  const may =
    typeof kind === 'string' ? [...kind].flatMap((one) => words[one] ?? []) : kind.map((one) => JSON.stringify(one));
  return `(it may be ${may.join(', ')})`;
}
