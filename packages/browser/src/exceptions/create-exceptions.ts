import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';
import { createReadException, exceptionEvent } from './read-exception.ts';
import { followUncaughtErrors } from './uncaught-errors.ts';

/** Captures errors nobody caught. */
export const createExceptions: Feature = (core) => {
  const read = createReadException();
  followUncaughtErrors(core, {
    tell(event) {
      const properties = read(event, false);
      if (properties) core.capture('$exception', properties);
    },
  });
  return undefined;
};

/** By the client's own `capture`, whatever an application has put in its place, and before `init` too. */
export const captureExceptionOf = (client: Client): Pick<Client, 'captureException'> => ({
  captureException: (error, properties) =>
    client.capture('$exception', { ...exceptionEvent(error, true, new Error().stack), ...properties }),
});
