import type { ClientEvent } from './capture-schema.ts';

/** Null when there is no name. A name that is not text is none. @param nameForNameless what the path calls such events. */
export function readName(event: ClientEvent, nameForNameless: string | null): string | null {
  if (typeof event.event === 'string') return event.event === '' ? null : event.event;
  return nameForNameless;
}
