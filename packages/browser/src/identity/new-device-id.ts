import type { Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';
import { newUuid } from '../page/new-uuid.ts';

/** As the application makes it of a new one: of who has no id, nothing would be stored. */
export function newDeviceId({ get_device_id }: Options, log: Log): string {
  const made = newUuid();
  try {
    const id: unknown = get_device_id(made);
    if (typeof id === 'string' && id) return id;
    log.error('get_device_id failed', id);
  } catch (error) {
    log.error('get_device_id failed', error);
  }
  return made;
}
