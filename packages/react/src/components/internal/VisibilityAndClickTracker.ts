import { createElement, type HTMLProps, type ReactElement, type ReactNode } from 'react';
import { useOnView } from './useOnView.ts';

interface VisibilityAndClickTrackerProps {
  children?: ReactNode;
  observerOptions: IntersectionObserverInit | undefined;
  wrapperProps: HTMLProps<HTMLDivElement>;
  /** Called when the wrapper has come into view; nothing is observed without it. */
  onView: (() => void) | undefined;
}

/** An element around what is tracked. */
export function VisibilityAndClickTracker({
  children,
  observerOptions,
  wrapperProps,
  onView,
}: VisibilityAndClickTrackerProps): ReactElement {
  const ref = useOnView(onView, observerOptions);
  return createElement('div', { ...wrapperProps, ref }, children);
}
