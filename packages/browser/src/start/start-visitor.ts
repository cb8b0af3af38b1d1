import type { Options } from '../client/client.ts';
import type { Log, Store } from '../client/core.ts';
import { newDeviceId } from '../identity/new-device-id.ts';
import { idleMsOf } from '../session/create-session.ts';

/**
 * A visitor who was not here yet gets an id, which is the device's too, unless the application knows who it is. Returns
 * whom an anonymous visitor turned out to be: to be identified when all parts are there.
 */
export function startVisitor(options: Options, store: Store, log: Log): string | null | undefined {
  const { distinctID: given, isIdentifiedID } = options.bootstrap;
  const [known, device] = [store.get('distinct_id'), store.get('$device_id')];
  const isIdentified = store.get('$user_state') === 'identified';
  const start = { $initialization_time: new Date().toISOString(), $configured_session_timeout_ms: idleMsOf(options) };
  if (known && (!given || (isIdentifiedID && given !== known))) {
    store.set(start);
    if (given && isIdentified) log.warn('bootstrap.distinctID needs reset(): another visitor is identified');
    return isIdentified ? undefined : given;
  }
  const id = newDeviceId(options, log);
  store.set({
    ...start,
    distinct_id: given || id,
    $device_id: given && !isIdentifiedID ? given : (known && device) || id,
    $user_state: given && isIdentifiedID ? 'identified' : 'anonymous',
  });
  return undefined;
}
