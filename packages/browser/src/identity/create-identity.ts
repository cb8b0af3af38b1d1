import type { Client } from '../client/client.ts';
import { createGroups } from './groups.ts';
import { createAlias, createIdentify } from './identify.ts';
import type { IdentityParts } from './identity-parts.ts';
import { createPersonProperties } from './person-properties.ts';
import { createReset } from './reset.ts';

/** Who the visitor is, and what is known of them. */
export function createIdentity(parts: IdentityParts): Partial<Client> {
  const properties = createPersonProperties(parts);
  const identify = createIdentify(parts, properties);
  return {
    identify,
    alias: createAlias(parts, identify),
    reset: createReset(parts, properties.forget),
    ...createGroups(parts),
    ...properties.members,
    get_distinct_id: () => parts.store.get('distinct_id') as string,
  };
}
