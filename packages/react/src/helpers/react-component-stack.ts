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
  if (componentStack) addLastCause(thrown, stackError(thrown.message, thrown.name, componentStack));
  return thrown;
}

function stackError(message: string, name: string, stack: string | null | undefined): Error {
  const error = new Error(message);
  // Assigning fails where a page has frozen what errors inherit.
  Object.defineProperty(error, 'name', { value: `React ErrorBoundary ${name}`, writable: true });
  if (stack) error.stack = stack;
  return error;
}

/** To an error that cannot be changed, nothing is added; causes that go round in a circle end with it. */
function addLastCause(error: Error, cause: Error): void {
  const chain = new Set([error]);
  let last = error;
  for (last of chain) if (last.cause instanceof Error) chain.add(last.cause);
  try {
    last.cause = cause;
  } catch {}
}
