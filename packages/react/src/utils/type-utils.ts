export const isFunction = <Value>(value: Value): value is Extract<Value, (...parameters: never[]) => unknown> =>
  typeof value === 'function';

export const isUndefined = (value: unknown): value is undefined => value === undefined;

export const isNull = (value: unknown): value is null => value === null;
