import { AppError } from '@millrace/errors';

/** @param value only its type goes into the message, never what is in it; undefined when there is none. */
export function invalidField(path: string[], sentence: string, value: unknown): AppError {
  const received = value === undefined ? '' : `, not ${typeName(value)}`;
  return new AppError('invalid', `${sentence}${received}.`, {
    code: 'invalid_payload',
    attr: path.join('__') || null,
  });
}

export function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
