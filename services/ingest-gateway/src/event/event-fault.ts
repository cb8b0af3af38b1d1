import { isDeeperThan, isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { findFieldProblem } from './capture-schema.ts';
import { typeName } from './invalid-field.ts';

/** Why one event of a request cannot be used. Nothing of what is in it is repeated. */
export interface EventFault {
  cause: 'invalid_event' | 'malformed_event_properties';
  /** From the event's top, e.g. `properties`, `$cookieless_mode`; empty when it is about the whole event. */
  path: readonly string[];
  /** `must be an object, not number`. */
  reason: string;
}

/** Levels of objects and arrays an event may have, itself included. */
export const maxNesting = 64;

/**
 * What is wrong with one event, by its types and its depth (docs/wire-rules.md#fields-of-an-event); null when it can be
 * used. A name or an id that is missing is no fault: such an event is dropped silently by the contract.
 *
 * @param isShallow true when it cannot be nested too deep.
 */
export function findFault(event: unknown, isShallow: boolean): EventFault | null {
  const cause = 'invalid_event';
  if (!isObject(event)) {
    return { cause, path: [], reason: `must be a JSON object, not ${typeName(event)}` };
  }
  const problem = findFieldProblem(event);
  if (problem !== null) {
    const { path, expected } = problem;
    const value = path.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], event);
    const received = typeof value === 'string' && expected === 'a UUID' ? '' : `, not ${typeName(value)}`;
    return { cause, path, reason: `must be ${expected}${received}` };
  }
  if (isShallow || !isDeeperThan(event, maxNesting)) return null;
  return { cause: 'malformed_event_properties', path: [], reason: `is nested deeper than ${maxNesting} levels` };
}

/** @param prefix how the position of the event in the request is written in `attr`. */
export function refusalOf({ cause, path, reason }: EventFault, prefix: readonly string[]): AppError {
  const subject = path.length === 0 ? 'The event' : `The field \`${path.join('.')}\``;
  return new AppError('invalid', `${subject} ${reason}.`, {
    code: cause === 'invalid_event' ? 'invalid_payload' : 'too_deep',
    attr: [...prefix, ...path].join('__') || null,
  });
}
