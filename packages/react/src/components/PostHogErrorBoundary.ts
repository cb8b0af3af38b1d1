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
import { isFunction, isNull } from '../utils/type-utils.ts';

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

/** @internal PostHog's own tests of the component ask for it. */
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
