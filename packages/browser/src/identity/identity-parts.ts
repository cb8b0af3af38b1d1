import type { Client } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { EventParts } from '../event/event-parts.ts';

/** Identity tells flags through the client, which may have none. */
export interface IdentityParts extends EventParts {
  client: Client;
  capture: Core['capture'];
}
