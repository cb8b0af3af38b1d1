/**
 * Adds where in the tree of components an error was thrown, as one more error at the end of its causes, which is how it
 * comes to be shown with a stack of its own. What is thrown and is no error becomes one.
 *
 * @returns the error to capture
 */
export function addReactComponentStack(thrown: unknown, componentStack: string | null | undefined): unknown {
  if (!(thrown instanceof Error)) {
    return stackError(`Primitive value captured as exception: ${String(thrown)}`, 'Error', componentStack);
  }
  const last = lastCause(thrown);
  if (last && componentStack) addCause(last, stackError(thrown.message, thrown.name, componentStack));
  return thrown;
}

function stackError(message: string, name: string, stack: string | null | undefined): Error {
  const error = new Error(message);
  // Assigning fails where a page has frozen what errors inherit.
  Object.defineProperty(error, 'name', { value: `React ErrorBoundary ${name}`, configurable: true, writable: true });
  if (stack) error.stack = stack;
  return error;
}

/** The error that no other one has caused; null when they go round in a circle. */
function lastCause(error: Error): Error | null {
  const seen = new Set<Error>();
  let last = error;
  while (last.cause instanceof Error) {
    seen.add(last);
    last = last.cause;
    if (seen.has(last)) return null;
  }
  return last;
}

/** An error that cannot be changed is captured without. */
function addCause(error: Error, cause: Error): void {
  try {
    error.cause = cause;
  } catch {}
}
