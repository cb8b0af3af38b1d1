import type { Client } from '../client/client.ts';
import { exceptionEvent } from './exception-event.ts';

/** By the client's own `capture`, whatever an application has put in its place, and before `init` too. */
export const captureExceptionOf = (client: Client): Pick<Client, 'captureException'> => ({
  captureException: (error, properties) =>
    client.capture('$exception', { ...exceptionEvent(error, true, new Error().stack), ...properties }),
});
