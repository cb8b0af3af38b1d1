// Captures errors of React: an error boundary, and handlers for the roots of React 19.

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
  /** The captured exception event. */
  exceptionEvent: unknown;
  componentStack: string;
  /** Renders the children again. */
  resetError: () => void;
}

export interface PostHogErrorBoundaryProps {
  children?: ReactNode | (() => ReactNode);
  /** Shown instead of children that threw an error. */
  fallback?: ReactNode | FunctionComponent<PostHogErrorBoundaryFallbackProps>;
  additionalProperties?: Properties | ((error: unknown, errorInfo: ErrorInfo) => Properties);
}

interface PostHogErrorBoundaryState {
  /** Null as long as no error was caught. */
  componentStack: string | null;
  exceptionEvent: unknown;
  error: unknown;
}

const nothingThrown: PostHogErrorBoundaryState = { componentStack: null, exceptionEvent: null, error: null };

/** Exported under PostHog's name, because application tests compare console warnings with it. */
export const __POSTHOG_ERROR_MESSAGES = {
  INVALID_FALLBACK:
    '[PostHog.js][PostHogErrorBoundary] Invalid fallback prop, provide a valid React element or a function that returns a valid React element.',
};

/** Captures errors that its children throw during rendering, and shows `fallback` instead of the children. */
export class PostHogErrorBoundary extends Component<PostHogErrorBoundaryProps, PostHogErrorBoundaryState> {
  static override contextType = PostHogContext;
  declare context: ContextType<typeof PostHogContext>;

  override state = nothingThrown;

  // Used instead of `getDerivedStateFromError` because capturing is a side effect and does not belong in rendering,
  // while a fallback needs the captured event at its first render.
  override componentDidCatch(error: unknown, errorInfo: ErrorInfo): void {
    const { additionalProperties } = this.props;
    const properties = isFunction(additionalProperties) ? additionalProperties(error, errorInfo) : additionalProperties;
    const { client } = this.context;
    const componentStack = errorInfo.componentStack ?? '';
    const capture = () => {
      const exceptionEvent = client?.captureException(addReactComponentStack(error, componentStack), properties);
      this.setState({ error, componentStack, exceptionEvent });
    };
    // An error in the first render is caught before the effect that starts the client. Capturing in the callback of
    // `setState` runs after that effect.
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
 * Returns a handler that captures the error, for `onUncaughtError`, `onCaughtError` and `onRecoverableError` of React
 * 19 roots.
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
 * Adds the component stack of an error as one more error at the end of its chain of causes, so that it is displayed
 * with its own stack. A thrown value that is not an error is wrapped in one.
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
  // A plain assignment fails when the page has frozen `Error.prototype`.
  Object.defineProperty(error, 'name', { value: `React ErrorBoundary ${name}`, writable: true });
  if (stack) error.stack = stack;
  return error;
}

/** Adds nothing if the last error cannot be changed. Stops at the last error of a circular chain. */
function addLastCause(error: Error, cause: Error): void {
  const chain = new Set([error]);
  let last = error;
  for (last of chain) if (last.cause instanceof Error) chain.add(last.cause);
  try {
    last.cause = cause;
  } catch {}
}
