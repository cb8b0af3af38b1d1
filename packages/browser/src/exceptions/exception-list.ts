import type { Properties } from '../client/values.ts';
import { describeThrown } from './describe-thrown.ts';
import { parseStack } from './parse-stack.ts';

export interface ExceptionEntry {
  type: string;
  value: string;
  mechanism: Record<string, string | number | boolean>;
  stacktrace?: { type: 'raw'; frames: ReturnType<typeof parseStack> };
}

const most = 50;

/** Something thrown, then what caused it, and what it is made of. */
export function exceptionList(thrown: unknown, isHandled: boolean, capturedAt?: string): ExceptionEntry[] {
  const list: ExceptionEntry[] = [];
  const seen = new Set<unknown>();

  const add = (error: unknown, mechanism: ExceptionEntry['mechanism'], stack?: string) => {
    if (list.length >= most || (typeof error === 'object' && seen.has(error))) return;
    seen.add(error);
    const described = describeThrown(error, stack);
    const exception_id = list.length;
    list.push({
      type: described.type,
      value: described.value,
      mechanism: { ...mechanism, synthetic: described.isSynthetic, exception_id },
      ...(described.stack && { stacktrace: { type: 'raw', frames: parseStack(described.stack) } }),
    });
    const inner = { type: 'chained', parent_id: exception_id };
    if (described.cause) add(described.cause, { ...inner, source: 'cause' });
    for (const member of described.errors ?? []) add(member, { ...inner, source: 'member' });
  };

  add(thrown, { type: 'generic', handled: isHandled }, capturedAt);
  return list;
}

/** The properties of `$exception`. */
export const exceptionProperties = (list: ExceptionEntry[]): Properties => ({
  $exception_list: list as unknown as Properties[],
  $exception_level: 'error',
});
