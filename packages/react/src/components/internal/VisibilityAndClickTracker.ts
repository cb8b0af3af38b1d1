import {
  createElement,
  type HTMLProps,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
} from 'react';

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
