import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';
import { createIdentity } from '../identity/create-identity.ts';
import type { ReadOptions } from '../options/take-options.ts';
import { consentMembers } from './consent-members.ts';
import type { Started } from './create-core.ts';
import { superPropertyMembers } from './super-property-members.ts';

interface MemberParts {
  features: Feature[];
  readOptions: ReadOptions;
}

/** All members of a started client: the core's, then those of the features a build has. */
export function membersOf({ core, parts }: Started, { features, readOptions }: MemberParts): Partial<Client> {
  const { client, capture, options, signals, sender, log } = core;
  const identity = createIdentity({ ...parts, client, capture });
  const own: Partial<Client> = {
    capture: capture as Client['capture'],
    on: (event, listener) => (event === 'eventCaptured' ? signals.on('captured', listener) : () => {}),
    ...identity,
    ...superPropertyMembers(parts),
    ...consentMembers(core, parts),
    get_session_id: () => parts.session.current().sessionId,
    onSessionId: parts.session.onSessionId,
    set_config(given) {
      const changed = readOptions(given, log);
      Object.assign(options, changed, { token: options.token });
      signals.emit('options', changed);
    },
    flush: sender.flush,
    async shutdown() {
      signals.emit('shutdown', undefined);
      await sender.flush();
    },
    debug(isOn = true) {
      options.debug = isOn;
    },
  };
  for (const feature of features) {
    try {
      Object.assign(own, feature(core));
    } catch (error) {
      // What a page has made impossible does not take the others with it.
      log.error(error);
    }
  }
  return own;
}
