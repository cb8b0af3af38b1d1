import type { Options } from '../client/client.ts';
import type { Store } from '../client/core.ts';
import { newUuid } from '../page/new-uuid.ts';

/** A visitor who was not here yet gets an id, which is the device's too. */
export function startVisitor(
  { bootstrap, get_device_id, session_idle_timeout_seconds: idle }: Options,
  store: Store,
): void {
  store.set({
    $initialization_time: new Date().toISOString(),
    $configured_session_timeout_ms: Math.min(36_000, Math.max(60, idle || 1800)) * 1000,
  });
  const { distinctID, isIdentifiedID } = bootstrap;
  if (store.get('distinct_id')) return;
  const id = get_device_id(newUuid());
  store.set({
    distinct_id: distinctID || id,
    $device_id: distinctID && !isIdentifiedID ? distinctID : id,
    $user_state: distinctID && isIdentifiedID ? 'identified' : 'anonymous',
  });
}
