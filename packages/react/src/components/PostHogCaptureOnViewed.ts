import type { Properties } from '@millrace/browser';
import { Children, createElement, type HTMLProps, type ReactElement, type ReactNode } from 'react';
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
  trackAllChildren,
  children,
  ...props
}: PostHogCaptureOnViewedProps): ReactElement {
  const posthog = usePostHog();
  const observe = (content: ReactNode, wrapperProps: HTMLProps<HTMLDivElement>, more?: Properties) =>
    createElement(
      VisibilityAndClickTracker,
      {
        observerOptions,
        wrapperProps,
        onView: () => void posthog?.capture('$element_viewed', { element_name: name, ...properties, ...more }),
      },
      content,
    );

  if (!trackAllChildren) return observe(children, props);
  return createElement(
    'div',
    props,
    Children.map(children, (child, index) => !isNull(child) && observe(child, {}, { child_index: index })),
  );
}
