import type { Properties } from '@millrace/browser';
import {
  Component,
  type ContextType,
  createElement,
  type ErrorInfo,
  type FunctionComponent,
  isValidElement,
  type ReactNode,
} from 'react';
import { PostHogContext } from '../context/PostHogContext.ts';
import { addReactComponentStack } from '../helpers/react-component-stack.ts';
import { isFunction } from '../utils/type-utils.ts';

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
  caught: Omit<PostHogErrorBoundaryFallbackProps, 'resetError'> | null;
}

const nothingCaught: PostHogErrorBoundaryState = { caught: null };

/** @internal PostHog's own tests of the component ask for it. */
export const __POSTHOG_ERROR_MESSAGES = {
  INVALID_FALLBACK:
    '[PostHog.js][PostHogErrorBoundary] Invalid fallback prop, provide a valid React element or a function that returns a valid React element.',
};

/** Captures what its children throw while they render, and shows `fallback` in their place. */
export class PostHogErrorBoundary extends Component<PostHogErrorBoundaryProps, PostHogErrorBoundaryState> {
  static override contextType = PostHogContext;
  declare context: ContextType<typeof PostHogContext>;

  override state = nothingCaught;

  // Not `getDerivedStateFromError`: a fallback is to show what was captured from the first time on, and capturing is no
  // part of rendering.
  override componentDidCatch(error: unknown, errorInfo: ErrorInfo): void {
    const { additionalProperties } = this.props;
    const properties =
      typeof additionalProperties === 'function' ? additionalProperties(error, errorInfo) : additionalProperties;
    const { client } = this.context;
    const componentStack = errorInfo.componentStack ?? '';
    const show = (exceptionEvent?: unknown, then?: () => void) =>
      this.setState({ caught: { error, componentStack, exceptionEvent } }, then);
    const capture = () => show(client?.captureException(addReactComponentStack(error, componentStack), properties));
    // What throws when the application first shows is caught before the effect that starts the client.
    if (client?.__loaded === false) show(undefined, capture);
    else capture();
  }

  resetError = (): void => {
    this.setState(nothingCaught);
  };

  override render(): ReactNode {
    const { children, fallback } = this.props;
    const { caught } = this.state;
    if (!caught) return isFunction(children) ? children() : children;

    const shown = isFunction(fallback) ? createElement(fallback, { ...caught, resetError: this.resetError }) : fallback;
    if (isValidElement(shown)) return shown;
    console.warn(__POSTHOG_ERROR_MESSAGES.INVALID_FALLBACK);
    return null;
  }
}
