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

interface VisibilityAndClickTrackersProps {
  children?: ReactNode;
  observerOptions: IntersectionObserverInit | undefined;
  wrapperProps: HTMLProps<HTMLDivElement> & { flag?: string };
  /** Called for the first click on any of the children. */
  onFirstClick: (() => void) | undefined;
  onFirstView: (() => void) | undefined;
}

/** Wraps each child in an element of its own, and tells of the first time that any of them is clicked or seen. */
export function VisibilityAndClickTrackers({
  children,
  observerOptions,
  wrapperProps,
  onFirstClick,
  onFirstView,
}: VisibilityAndClickTrackersProps): ReactNode {
  const told = useRef<{ click?: true; view?: true }>({});

  function tellOnce(what: 'click' | 'view', tell: (() => void) | undefined): void {
    if (!tell || told.current[what]) return;
    told.current[what] = true;
    tell();
  }

  return Children.map(
    children,
    (child) =>
      // Nothing is what conditions leave (`{isNew && <Badge />}`).
      !isNull(child) &&
      createElement(
        VisibilityAndClickTracker,
        {
          observerOptions,
          wrapperProps: { onClick: () => tellOnce('click', onFirstClick), ...wrapperProps },
          onView: onFirstView && (() => tellOnce('view', onFirstView)),
        },
        child,
      ),
  );
}

interface VisibilityAndClickTrackerProps {
  children?: ReactNode;
  observerOptions: IntersectionObserverInit | undefined;
  wrapperProps: HTMLProps<HTMLDivElement>;
  /** Called when the wrapper has come into view; nothing is observed without it. */
  onView: (() => void) | undefined;
}

/** An element around what is tracked. */
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
 * Calls `onView` once, when a tenth of the element, or what the options say, has come into view. Without `onView`, and in
 * browsers without observers, nothing is observed.
 *
 * @returns the ref to give to the element
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: options are mostly written in place, new in each render
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
