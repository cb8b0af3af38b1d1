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
  /** What was captured. */
  exceptionEvent: unknown;
  componentStack: string;
  /** Shows the children again. */
  resetError: () => void;
}

export interface PostHogErrorBoundaryProps {
  children?: ReactNode | (() => ReactNode);
  /** Shown in place of children that failed. */
  fallback?: ReactNode | FunctionComponent<PostHogErrorBoundaryFallbackProps>;
  additionalProperties?: Properties | ((error: unknown, errorInfo: ErrorInfo) => Properties);
}

interface PostHogErrorBoundaryState {
  /** Null says that nothing was thrown. */
  componentStack: string | null;
  exceptionEvent: unknown;
  error: unknown;
}

const nothingThrown: PostHogErrorBoundaryState = { componentStack: null, exceptionEvent: null, error: null };

/** By this name tests of applications know what is said on the console. */
export const __POSTHOG_ERROR_MESSAGES = {
  INVALID_FALLBACK:
    '[PostHog.js][PostHogErrorBoundary] Invalid fallback prop, provide a valid React element or a function that returns a valid React element.',
};

/** Captures what its children throw while they render, and shows `fallback` in their place. */
export class PostHogErrorBoundary extends Component<PostHogErrorBoundaryProps, PostHogErrorBoundaryState> {
  static override contextType = PostHogContext;
  declare context: ContextType<typeof PostHogContext>;

  override state = nothingThrown;

  // Not `getDerivedStateFromError`: a fallback is to show what was captured from the first time on, and capturing is no
  // part of rendering.
  override componentDidCatch(error: unknown, errorInfo: ErrorInfo): void {
    const { additionalProperties } = this.props;
    const properties = isFunction(additionalProperties) ? additionalProperties(error, errorInfo) : additionalProperties;
    const { client } = this.context;
    const componentStack = errorInfo.componentStack ?? '';
    const capture = () => {
      const exceptionEvent = client?.captureException(addReactComponentStack(error, componentStack), properties);
      this.setState({ error, componentStack, exceptionEvent });
    };
    // What throws when the application first shows is caught before the effect that starts the client.
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

/** For `onUncaughtError`, `onCaughtError` and `onRecoverableError` of React 19's roots: captures the error. */
export function setupReactErrorHandler(
  client: PostHog,
  // biome-ignore lint/suspicious/noExplicitAny: whatever was thrown, which applications mostly take for an error
  callback?: (event: CaptureResult | undefined, error: any, errorInfo: ErrorInfo) => void,
): (error: unknown, errorInfo: ErrorInfo) => void {
  return (error, errorInfo) => {
    const event = client.captureException(addReactComponentStack(error, errorInfo.componentStack));
    callback?.(event, error, errorInfo);
  };
}

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
