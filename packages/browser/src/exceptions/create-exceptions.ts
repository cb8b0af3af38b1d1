// Captures errors, for builds that include all necessary code from the start.

import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';
import { buildExceptionEvent, createReadException } from './read-exception.ts';
import { observeUncaughtErrors } from './uncaught-errors.ts';

export const createExceptions: Feature = (core) => {
  const read = createReadException();
  observeUncaughtErrors(core, {
    tell(event) {
      const properties = read(event, false);
      if (properties) core.capture('$exception', properties);
    },
  });
  return undefined;
};

/** Creates `captureException`, which works even before `init` and after the application has replaced `capture`. */
export const createCaptureException = (client: Client): Pick<Client, 'captureException'> => ({
  captureException: (error, properties) =>
    client.capture('$exception', { ...buildExceptionEvent(error, true, new Error().stack), ...properties }),
});
