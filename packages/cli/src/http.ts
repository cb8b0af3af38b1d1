/**
 * Returns the message in an error response (docs/wire-rules.md#responses). Never returns the complete body, which may
 * contain data that the client sent.
 */
export function describeBody(text: string): string {
  const { detail, attr } = parseObject(text);
  if (typeof detail !== 'string') return '';
  return ` ${typeof attr === 'string' ? `${attr}: ` : ''}${detail.slice(0, 300)}`;
}

/** Parses a JSON object. Returns an empty object if the text is not a JSON object. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Describes a network error's root cause: the system's error code, or the HTTP client's message. */
export function describeNetworkError(error: unknown): string {
  let words = '';
  for (let each = error as NetworkError | undefined; typeof each === 'object' && each !== null; each = each.cause) {
    if (each.name === 'TimeoutError') return 'timed out';
    if (typeof each.code === 'string') return `connection failed, ${each.code}`;
    words = each.message ?? words;
  }
  return `connection failed, ${words}`;
}

interface NetworkError {
  name?: string;
  code?: unknown;
  message?: string;
  cause?: NetworkError;
}
