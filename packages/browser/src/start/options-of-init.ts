import type { InitOptions, Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';
import { defaultOptions } from '../options/default-options.ts';
import { readOptions } from '../options/read-options.ts';

/** What a client works by; undefined, and an error that says what is missing, where it cannot. */
export function optionsOfInit(
  token: unknown,
  given: InitOptions | undefined,
  scriptHost: string | undefined,
  log: Log,
): Options | undefined {
  const read = readOptions(given, log);
  const known = typeof token === 'string' ? token.trim() : '';
  const host = read.api_host || scriptHost;
  if (!known) log.error('init needs a token: the first argument is empty');
  else if (!host) log.error('init needs the option api_host: the address of your ingest host');
  if (!known || !host) return undefined;
  return { ...defaultOptions(read.defaults ?? 'unset'), ...read, token: known, api_host: host };
}
