// Captures React errors: an error boundary, and handlers for the roots of React 19.

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
  /** Makes the boundary render the children again. */
  resetError: () => void;
}

export interface PostHogErrorBoundaryProps {
  children?: ReactNode | (() => ReactNode);
  /** The content to show instead of children that threw an error. */
  fallback?: ReactNode | FunctionComponent<PostHogErrorBoundaryFallbackProps>;
  additionalProperties?: Properties | ((error: unknown, errorInfo: ErrorInfo) => Properties);
}

interface PostHogErrorBoundaryState {
  /** The component stack of the error. Null while no error has been caught. */
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

  // The boundary uses this method and not `getDerivedStateFromError`. Capturing is a side effect, which does not belong
  // in rendering, and the fallback needs the captured event when it first renders.
  override componentDidCatch(error: unknown, errorInfo: ErrorInfo): void {
    const { additionalProperties } = this.props;
    const properties = isFunction(additionalProperties) ? additionalProperties(error, errorInfo) : additionalProperties;
    const { client } = this.context;
    const componentStack = errorInfo.componentStack ?? '';
    const capture = () => {
      const exceptionEvent = client?.captureException(addReactComponentStack(error, componentStack), properties);
      this.setState({ error, componentStack, exceptionEvent });
    };
    // An error in the first render is caught before the effect that starts the client. The callback of `setState` runs
    // after that effect, so the error is captured there.
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
 * Returns a handler that captures errors. It can be used for `onUncaughtError`, `onCaughtError` and
 * `onRecoverableError` of React 19 roots.
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
 * Adds the component stack of an error as one more error at the end of its chain of causes, so that it is displayed as
 * a separate stack. If the thrown value is not an error, it is wrapped in one.
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
  // A plain assignment fails if the page has frozen `Error.prototype`.
  Object.defineProperty(error, 'name', { value: `React ErrorBoundary ${name}`, writable: true });
  if (stack) error.stack = stack;
  return error;
}

/**
 * Adds a cause to the last error of a chain. Adds nothing if that error cannot be changed. In a circular chain, the
 * last error is the one before the first repetition.
 */
function addLastCause(error: Error, cause: Error): void {
  const chain = new Set([error]);
  let last = error;
  for (last of chain) if (last.cause instanceof Error) chain.add(last.cause);
  try {
    last.cause = cause;
  } catch {}
}
