import { type RefObject, useEffect, useRef } from 'react';

/**
 * Calls `onView` when a tenth of the element, or what the options say, has come into view. Without `onView`, and in
 * browsers without observers, nothing is observed.
 *
 * @returns the ref to give to the element
 */
export function useOnView(
  onView: (() => void) | undefined,
  { root, rootMargin, threshold = 0.1 }: IntersectionObserverInit = {},
): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement | null>(null);
  const latest = useRef(onView);
  useEffect(() => {
    latest.current = onView;
  });

  const isObserved = onView !== undefined;
  // Options are mostly written in place, new in each render; the element to scroll in cannot be compared but by identity.
  const thresholds = String(threshold);
  useEffect(() => {
    if (!isObserved || element.current === null || typeof IntersectionObserver === 'undefined') return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current?.();
      },
      {
        ...(root !== undefined && { root }),
        ...(rootMargin !== undefined && { rootMargin }),
        threshold: thresholds.split(',').map(Number),
      },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isObserved, root, rootMargin, thresholds]);

  return element;
}
