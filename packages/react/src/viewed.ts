// Components that capture when their children become visible or are clicked.

import type { Properties } from '@millrace/browser';
import {
  Children,
  createElement,
  type HTMLProps,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
} from 'react';
import { usePostHog } from './context.ts';
import { isNull } from './values.ts';

export type PostHogCaptureOnViewedProps = HTMLProps<HTMLDivElement> & {
  name?: string;
  properties?: Properties;
  observerOptions?: IntersectionObserverInit;
  trackAllChildren?: boolean;
};

/** Captures `$element_viewed` when its children first become visible. */
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

interface VisibilityAndClickTrackersProps {
  children?: ReactNode;
  observerOptions: IntersectionObserverInit | undefined;
  wrapperProps: HTMLProps<HTMLDivElement> & { flag?: string };
  onFirstClick: (() => void) | undefined;
  onFirstView: (() => void) | undefined;
}

export function VisibilityAndClickTrackers({
  children,
  observerOptions,
  wrapperProps,
  onFirstClick,
  onFirstView,
}: VisibilityAndClickTrackersProps): ReactNode {
  const reported = useRef<{ click?: true; view?: true }>({});

  function reportOnce(what: 'click' | 'view', report: (() => void) | undefined): void {
    if (!report || reported.current[what]) return;
    reported.current[what] = true;
    report();
  }

  return Children.map(
    children,
    (child) =>
      // Conditional children such as `{isNew && <Badge />}` may be null.
      !isNull(child) &&
      createElement(
        VisibilityAndClickTracker,
        {
          observerOptions,
          wrapperProps: { onClick: () => reportOnce('click', onFirstClick), ...wrapperProps },
          onView: onFirstView && (() => reportOnce('view', onFirstView)),
        },
        child,
      ),
  );
}

interface VisibilityAndClickTrackerProps {
  children?: ReactNode;
  observerOptions: IntersectionObserverInit | undefined;
  wrapperProps: HTMLProps<HTMLDivElement>;
  /** Called when the wrapper becomes visible. If undefined, the wrapper is not observed. */
  onView: (() => void) | undefined;
}

function VisibilityAndClickTracker({
  children,
  observerOptions,
  wrapperProps,
  onView,
}: VisibilityAndClickTrackerProps): ReactElement {
  const ref = useOnView(onView, observerOptions);
  return createElement('div', { ...wrapperProps, ref }, children);
}

/**
 * Calls `onView` once, when the visible fraction of the element reaches the `threshold` option (default 0.1). Does not
 * observe the element if `onView` is undefined or the browser does not support `IntersectionObserver`.
 * @returns the ref for the element
 */
function useOnView(
  onView: (() => void) | undefined,
  { root, rootMargin, threshold = 0.1 }: IntersectionObserverInit = {},
): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement | null>(null);
  const isSeen = useRef(false);
  const latest = useRef(onView);
  useEffect(() => {
    latest.current = onView;
  });

  const isObserved = onView !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: options are usually a new object in each render
  useEffect(() => {
    if (!isObserved || !element.current || !window.IntersectionObserver) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (isSeen.current || !entries.some((entry) => entry.isIntersecting)) return;
        isSeen.current = true;
        latest.current?.();
      },
      { root, rootMargin, threshold },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isObserved, root, rootMargin, String(threshold)]);

  return element;
}
