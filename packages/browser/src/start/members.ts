import type { Client } from '../client/client.ts';
import type { Feature } from '../client/core.ts';
import { createIdentity } from '../identity/create-identity.ts';
import { readOptions } from '../options/read-options.ts';
import { consentMembers } from './consent-members.ts';
import type { Started } from './create-core.ts';
import { superPropertyMembers } from './super-property-members.ts';

/** All members of a started client: the core's, then those of the features a build has. */
export function membersOf({ core, parts }: Started, features: Feature[]): Partial<Client> {
  const { client, capture, options, signals, sender, log } = core;
  const identity = createIdentity({ ...parts, client, capture });
  const own: Partial<Client> = {
    capture: capture as Client['capture'],
    on: (event, listener) => (event === 'eventCaptured' ? signals.on('captured', listener) : () => {}),
    ...identity,
    ...superPropertyMembers(parts),
    ...consentMembers(core, parts),
    get_session_id: () => parts.session.current().sessionId,
    onSessionId: parts.session.onChange,
    get_session_replay_url({ withTimestamp, timestampLookBack = 10 } = {}) {
      const { sessionId, startedMs } = parts.session.current();
      const seconds = Math.max(Math.floor((Date.now() - startedMs) / 1000) - timestampLookBack, 0);
      const path = `/project/${options.token}/replay/${sessionId}`;
      return (options.ui_host ?? options.api_host) + path + (withTimestamp ? `?t=${seconds}` : '');
    },
    set_config(given) {
      const changed = readOptions(given, log);
      Object.assign(options, changed);
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
  return Object.assign(own, ...features.map((feature) => feature(core)));
}
