import { LRUCache } from 'lru-cache';
import { textHash53 } from '../values/text-hash.ts';
import type { PropertyDefinition } from './definition-store.ts';

const hourMs = 3_600_000;
/** Names this process remembers to have written; about 80 bytes each. */
const maxRemembered = 100_000;

/** Which names were noted in this hour of the clock, and whether their type was known then. */
export interface NotedNames {
  has(key: string, mark: number): boolean;
  /** True the first time in an hour, and once more when the type becomes known. */
  add(key: string, mark: number): boolean;
  forget(key: string): void;
  forgetAll(): void;
}

export function createNotedNames(): NotedNames {
  /** By the hash of a name's key. */
  const marks = new LRUCache<number, number>({ max: maxRemembered });
  const has = (key: string, mark: number) => (marks.get(textHash53(key)) ?? 0) >= mark;
  return {
    has,
    add(key, mark) {
      if (has(key, mark)) return false;
      marks.set(textHash53(key), mark);
      return true;
    },
    forget: (key) => void marks.delete(textHash53(key)),
    forgetAll: () => marks.clear(),
  };
}

/** Of the hour, even while the type is not known yet: a later mark is a larger number. */
export function markOf(nowMs: number, isTypeKnown: boolean): number {
  return Math.floor(nowMs / hourMs) * 2 + (isTypeKnown ? 1 : 0);
}

export function propertyKey({ projectId, type, groupTypeIndex, name }: PropertyDefinition): string {
  return `${type}:${projectId}:${groupTypeIndex}:${name}`;
}

export function eventKey(projectId: number, name: string): string {
  return `e:${projectId}:${name}`;
}
