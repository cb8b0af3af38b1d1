import { projectKeyChannel } from '@millrace/contracts';
import type { Logger } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';

export interface KeyChanges {
  /**
   * Makes gateways forget what they know of these project API keys (`allProjectKeys` for all of them): after a key was
   * replaced or removed, or its project's settings or plan changed. To be called after the commit; else a gateway could
   * read the old state again. Never fails and is not waited for: PostgreSQL announces the same (contracts,
   * project-changes.ts); this is for gateways that do not hear it.
   */
  announce(tokens: readonly string[]): void;
}

export function createKeyChanges(keyValue: KeyValue, logger: Logger): KeyChanges {
  return {
    announce(tokens) {
      for (const token of tokens) {
        keyValue.publish(projectKeyChannel, token).catch((error) => {
          logger.debug('a key change could not be announced in Redis; gateways hear of it from PostgreSQL', { error });
        });
      }
    },
  };
}
