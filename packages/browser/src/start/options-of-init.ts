import type { InitOptions, Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';
import { defaultOptions } from '../options/default-options.ts';
import type { ReadOptions } from '../options/take-options.ts';

export interface OptionsParts {
  readOptions: ReadOptions;
  /** Defaults of a build that has more options than others, as of a date. */
  moreOptions?: (defaults: string | undefined) => Partial<Options>;
  /** Where events go when `api_host` is not given: where the script came from. */
  scriptHost?: string | undefined;
}

/** What a client works by; undefined, and an error that says what is missing, where it cannot. */
export function optionsOfInit(
  { readOptions, moreOptions, scriptHost }: OptionsParts,
  given: unknown,
  said: InitOptions | undefined,
  log: Log,
): Options | undefined {
  const read = readOptions(said, log);
  const token = String(given ?? '').trim();
  const api_host = read.api_host || scriptHost;
  if (!token) log.error('init: the token is missing');
  else if (!api_host) log.error('init: the option api_host is missing: the address of your ingest host');
  else return { ...defaultOptions(), ...moreOptions?.(read.defaults), ...read, token, api_host } as Options;
  return undefined;
}
