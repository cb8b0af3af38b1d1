import { type RefObject, useEffect, useRef } from 'react';

/**
 * Calls `onView` once, when a tenth of the element, or what the options say, has come into view. Without `onView`, and in
 * browsers without observers, nothing is observed.
 *
 * @returns the ref to give to the element
 */
export function useOnView(
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
