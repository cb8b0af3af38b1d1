import { Children, createElement, type HTMLProps, type ReactNode, useRef } from 'react';
import { isNull } from '../../utils/type-utils.ts';
import { VisibilityAndClickTracker } from './VisibilityAndClickTracker.ts';

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
