// Captures React errors with an error boundary, or with error handlers for React 19 roots.

import type { CaptureResult, Properties } from '@millrace/browser';
import {
  Component,
  type ContextType,
  createElement,
  type ErrorInfo,
  type FunctionComponent,
  isValidElement,
  type ReactNode,
} from 'react';
import { type PostHog, PostHogContext } from './context.ts';
import { isFunction, isNull } from './values.ts';

export interface PostHogErrorBoundaryFallbackProps {
  error: unknown;
  exceptionEvent: unknown;
  componentStack: string;
  /** Renders the boundary's children again. */
  resetError: () => void;
}

export interface PostHogErrorBoundaryProps {
  children?: ReactNode | (() => ReactNode);
  /** The content to show after one of the children has thrown an error. */
  fallback?: ReactNode | FunctionComponent<PostHogErrorBoundaryFallbackProps>;
  additionalProperties?: Properties | ((error: unknown, errorInfo: ErrorInfo) => Properties);
}

interface PostHogErrorBoundaryState {
  /** React's component stack for the error. Null if no error was caught. */
  componentStack: string | null;
  exceptionEvent: unknown;
  error: unknown;
}

const nothingThrown: PostHogErrorBoundaryState = { componentStack: null, exceptionEvent: null, error: null };

/**
 * This export keeps PostHog's name and wording, because application tests compare console warnings with these messages.
 */
export const __POSTHOG_ERROR_MESSAGES = {
  INVALID_FALLBACK:
    '[PostHog.js][PostHogErrorBoundary] Invalid fallback prop, provide a valid React element or a function that returns a valid React element.',
};

/** Captures errors that its children throw while rendering, and shows `fallback` in their place. */
export class PostHogErrorBoundary extends Component<PostHogErrorBoundaryProps, PostHogErrorBoundaryState> {
  static override contextType = PostHogContext;
  declare context: ContextType<typeof PostHogContext>;

  override state = nothingThrown;

  // The boundary uses this method instead of `getDerivedStateFromError` for two reasons: React does not allow side
  // effects such as capturing during rendering, and the fallback needs the captured event in its first render.
  override componentDidCatch(error: unknown, errorInfo: ErrorInfo): void {
    const { additionalProperties } = this.props;
    const properties = isFunction(additionalProperties) ? additionalProperties(error, errorInfo) : additionalProperties;
    const { client } = this.context;
    const componentStack = errorInfo.componentStack ?? '';
    const capture = () => {
      const exceptionEvent = client?.captureException(addReactComponentStack(error, componentStack), properties);
      this.setState({ error, componentStack, exceptionEvent });
    };
    // An error in the first render is caught before the effect that starts the client has run. Capture the error in the
    // callback of `setState`, which runs after that effect.
    if (client?.__loaded === false) this.setState({ error, componentStack }, capture);
    else capture();
  }

  resetError = (): void => {
    this.setState(nothingThrown);
  };

  override render(): ReactNode {
    const { children, fallback } = this.props;
    const { state, resetError } = this;
    if (isNull(state.componentStack)) return isFunction(children) ? children() : children;

    const caught = { ...state, resetError } as PostHogErrorBoundaryFallbackProps;
    const shown = isFunction(fallback) ? createElement(fallback, caught) : fallback;
    if (isValidElement(shown)) return shown;
    console.warn(__POSTHOG_ERROR_MESSAGES.INVALID_FALLBACK);
    return null;
  }
}

/**
 * Returns an error handler for the options `onUncaughtError`, `onCaughtError` and `onRecoverableError` of React 19
 * roots.
 */
export function setupReactErrorHandler(
  client: PostHog,
  // biome-ignore lint/suspicious/noExplicitAny: any value can be thrown, and applications usually treat it as an error
  callback?: (event: CaptureResult | undefined, error: any, errorInfo: ErrorInfo) => void,
): (error: unknown, errorInfo: ErrorInfo) => void {
  return (error, errorInfo) => {
    const event = client.captureException(addReactComponentStack(error, errorInfo.componentStack));
    callback?.(event, error, errorInfo);
  };
}

/**
 * Adds the component stack to an error, as the last error in its chain of causes, so that it is displayed as a separate
 * stack. If the thrown value is not an error, wraps it in an error.
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
  // An assignment to `name` would fail if the page has frozen `Error.prototype`.
  Object.defineProperty(error, 'name', { value: `React ErrorBoundary ${name}`, writable: true });
  if (stack) error.stack = stack;
  return error;
}

/**
 * Adds a cause to the last error in a chain, if that error is extensible. In a circular chain, the last error is the
 * one before the first repetition.
 */
function addLastCause(error: Error, cause: Error): void {
  const chain = new Set([error]);
  let last = error;
  for (last of chain) if (last.cause instanceof Error) chain.add(last.cause);
  try {
    last.cause = cause;
  } catch {}
}
