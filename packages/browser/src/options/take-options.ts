import type { InitOptions, Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';

/** From what an application gave to options. */
export type ReadOptions = (given: InitOptions | undefined, log: Log) => Partial<Options>;

/** As they are: whoever wants to be told of mistakes, or uses names of before, takes the full build. */
export const takeOptions: ReadOptions = (given) => {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(Object(given))) {
    if (value === undefined) continue;
    options[name] = name.endsWith('_host') && typeof value === 'string' ? value.trim().replace(/\/+$/, '') : value;
  }
  return options;
};
