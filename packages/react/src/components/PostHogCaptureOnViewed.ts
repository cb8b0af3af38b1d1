import type { Properties } from '@millrace/browser';
import { Children, createElement, type HTMLProps, type ReactElement, useRef } from 'react';
import { usePostHog } from '../hooks/usePostHog.ts';
import { isNull } from '../utils/type-utils.ts';
import { VisibilityAndClickTracker } from './internal/VisibilityAndClickTracker.ts';

export type PostHogCaptureOnViewedProps = HTMLProps<HTMLDivElement> & {
  name?: string;
  properties?: Properties;
  observerOptions?: IntersectionObserverInit;
  /** Each child is an element of its own, seen for itself. */
  trackAllChildren?: boolean;
};

/** Captures `$element_viewed` when what is in it comes into view for the first time. */
export function PostHogCaptureOnViewed({
  name,
  properties,
  observerOptions,
  trackAllChildren = false,
  children,
  ...props
}: PostHogCaptureOnViewedProps): ReactElement {
  const posthog = usePostHog();
  const seen = useRef(new Set<number | undefined>());

  function capture(childIndex?: number): void {
    if (seen.current.has(childIndex)) return;
    seen.current.add(childIndex);
    posthog?.capture('$element_viewed', {
      element_name: name,
      ...properties,
      ...(childIndex !== undefined && { child_index: childIndex }),
    });
  }

  if (!trackAllChildren) {
    return createElement(
      VisibilityAndClickTracker,
      { observerOptions, wrapperProps: props, onView: () => capture() },
      children,
    );
  }
  return createElement(
    'div',
    props,
    Children.map(
      children,
      (child, index) =>
        !isNull(child) &&
        createElement(
          VisibilityAndClickTracker,
          { observerOptions, wrapperProps: {}, onView: () => capture(index) },
          child,
        ),
    ),
  );
}
