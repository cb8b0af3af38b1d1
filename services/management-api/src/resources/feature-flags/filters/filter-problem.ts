import { AppError } from '@millrace/errors';

/** What is wrong with the filters of a flag, in the words that existing clients know. */
export function filterProblem(detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr: 'filters' });
}

/** A value as a sentence shows it: not more than fits into one. */
export function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
