import type { Properties } from '../client/values.ts';
import { describeThrown } from './describe-thrown.ts';
import { parseStack, type StackFrame } from './parse-stack.ts';

export interface ExceptionEntry {
  type: string;
  value: string;
  mechanism: Record<string, string | number | boolean>;
  stacktrace?: { type: 'raw'; frames: StackFrame[] };
}

/** The properties of `$exception`. */
export type ExceptionEvent = Properties & { $exception_list: ExceptionEntry[] & Properties[] };

const most = 50;

/** Tells of something thrown, then of what caused it, and of what it is made of. */
export function exceptionEvent(thrown: unknown, handled: boolean, capturedAt?: string): ExceptionEvent {
  const list: ExceptionEntry[] = [];
  const seen = new Set<unknown>();

  const add = (error: unknown, mechanism: ExceptionEntry['mechanism'], place?: string) => {
    if (list.length >= most || (typeof error === 'object' && seen.has(error))) return;
    seen.add(error);
    const { type, value, synthetic, stack, cause, errors } = describeThrown(error, place);
    const id = list.length;
    list.push({
      type,
      value,
      mechanism: { ...mechanism, synthetic, exception_id: id },
      ...(stack && { stacktrace: { type: 'raw', frames: parseStack(stack) } }),
    });
    const addInner = (inner: unknown, source: string) => add(inner, { type: 'chained', source, parent_id: id });
    if (cause) addInner(cause, 'cause');
    for (const member of errors ?? []) addInner(member, 'member');
  };

  add(thrown, { type: 'generic', handled }, capturedAt);
  return { $exception_list: list as ExceptionEvent['$exception_list'], $exception_level: 'error' };
}
