export const isFunction = (value: unknown): value is (...parameters: never[]) => unknown => typeof value === 'function';

export const isUndefined = (value: unknown): value is undefined => value === undefined;

export const isNull = (value: unknown): value is null => value === null;
